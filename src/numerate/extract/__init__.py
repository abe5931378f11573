"""Extract, the first stage: text goes in, the counts of its numerals come out.

The room says what a numeral is, reads files, folders, datasets and the embedded almanac block by
block, counts the numerals in them (`Counts`), and names the ranges and domains that later stages
ask about.
"""
