"""Baselines: the recipes of GenBERT and MWP-BERT.

A base model with questions on numbers, or with math word problems, goes in, and a model folder
comes out; the checkpoints that their authors released can be loaded as they are.
"""
