"""Pretrain, the fourth stage. Input: a primed corpus and a base model. Output: a model folder.

Masked language modelling continues with the anchors masked. One training loop, which validates,
writes checkpoints and can resume, serves this recipe and those of the two baselines.
"""
