"""Baselines: GenBERT and MWP-BERT, trained here or loaded as their authors released them."""
