"""Lets sentence-transformers prime the sentences of this model; a part of numerate's folders."""

try:
    from numerate.sentence import PrimedTransformer as _PrimedTransformer
except ImportError as error:
    raise ImportError(
        "this model primes the numerals of its sentences with numerate: "
        f"pip install 'numerate[sentence]' ({error})"
    ) from error


class PrimedTransformer(_PrimedTransformer):
    """numerate's module, under a name that is found in this folder."""
