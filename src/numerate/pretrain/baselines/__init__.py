"""Baselines: GenBERT and MWP-BERT, trained here or loaded as their authors released them.

Input: a base model, and questions about numbers or math word problems. Output: a model folder.
"""
