"""Pretrain, the fourth stage. Input: a primed corpus and a base model. Output: a model folder."""
