"""Extract, the first stage: text goes in, the counts of its numerals come out.

Modules: `numerals` finds numerals in text; `sources` and `corpus` read files, folders and datasets
as a stream of blocks; `almanac` is the embedded corpus; `counts` counts (`Counts`); `ranges` names
the ranges of values, in and out of the corpus, that later stages use.
"""
