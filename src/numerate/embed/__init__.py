"""Embed, the fifth stage: numerals or sentences and a model go in, vectors come out.

`load` turns the name of a model into an `Encoder`; the room also finds a numeral's nearest
neighbours, and holds the module for sentence-transformers.
"""
