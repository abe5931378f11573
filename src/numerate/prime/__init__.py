"""Prime, the third stage: text and anchors go in, primed text comes out.

Priming inserts the nearest anchor after each numeral, `1999 <ANC> 86`, and can be undone. Modules:
`text` primes single texts; `scheme` describes how a model's input is primed (`Priming`);
`primed_corpus` primes a corpus on disk (`PrimedCorpus`); `variants` names combinations of settings.
"""
