"""Run, all the stages: a config goes in, the folder of a run comes out.

Steps that are done are skipped, those that were cut off go on, and a changed setting reruns only
what depends on it.
"""
