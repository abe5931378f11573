"""Figures: what charts show, from the files of a run, and how they are drawn."""
