"""Fit, the second stage: the counts of a corpus go in, anchors come out."""
