"""Prime, the third stage: text and anchors go in, primed text comes out.

Every numeral gets its anchor written behind it, `1999 <ANC> 86`, in a single text, for a model
(`Priming`), or in a whole corpus on disk (`PrimedCorpus`); all of it can be undone. The named
variants are here too.
"""
