"""Extract, the first stage: text goes in, the counts of its numerals come out."""
