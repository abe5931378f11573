"""Report, the seventh stage: the folder of a run goes in, tables, figures and a page come out.

The page is self-contained; it also says what the run has to say to each of the paper's claims.
"""
