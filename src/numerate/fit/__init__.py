"""Fit, the second stage: the counts of a corpus go in, anchors come out.

Modules: `mixture` fits one-dimensional Gaussian mixtures; `anchors` has the scales and `AnchorSet`;
`fitting` turns counts into anchors, and compares numbers of components by AIC and BIC (`Sweep`).
"""
