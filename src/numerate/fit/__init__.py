"""Fit, the second stage: the counts of a corpus go in, anchors come out.

A one-dimensional Gaussian mixture is fitted to the numerals, and its rounded means are the anchors
(`AnchorSet`); a sweep compares numbers of components by AIC and BIC.
"""
