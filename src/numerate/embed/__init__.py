"""Embed, the fifth stage. Input: numerals or sentences, and a model. Output: vectors.

`load` returns the `Encoder` of a model. The room also finds the nearest neighbours of a numeral and
has the module for sentence-transformers.
"""
