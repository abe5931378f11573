"""Run, all the stages: a config goes in, the folder of a run comes out.

Finished steps are skipped, interrupted ones continue, and a changed setting repeats only the steps
that depend on it.
"""
