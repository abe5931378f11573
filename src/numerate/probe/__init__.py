"""Probe, the sixth stage: vectors of numerals or sentences go in, scores come out.

Samples are drawn from the counts of a corpus as a protocol says, models and controls are asked to
decode, add and compare numbers, and every score is one record (`Score`).
"""
