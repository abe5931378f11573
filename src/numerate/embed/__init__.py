"""Embed, the fifth stage. Input: numerals or sentences, and a model. Output: vectors."""
