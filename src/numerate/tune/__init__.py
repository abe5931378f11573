"""Tune, a stage. Input: text with numbers, a sentence encoder. Output: one that knows magnitudes.

Its vectors tell how large the numbers of a sentence are, and keep what they told before.
"""
