"""Pretrain, the fourth stage: a primed corpus and a base model go in, a model folder comes out.

Masked language modelling is continued with the anchors masked; a run validates itself, writes
checkpoints and can be resumed. The baselines have a room of their own in `baselines`.
"""
