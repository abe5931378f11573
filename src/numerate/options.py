"""The words a user may choose from; light, so that the command line can name them at once."""

from typing import Literal

Domain = Literal["integers", "reals"]
"""Which numerals count: the paper's positive integers up to 10^10, or decimals and signs too."""

Scale = Literal["linear", "ln", "log10"]
"""Where anchors live: on the values, on their logarithms, or on their decimal exponents."""

Start = Literal["drawn", "spread"]
"""Where a mixture starts: at numerals drawn from the text, or at some spread over its scale."""

Marker = Literal["anc", "lr", "exp"]
"""What stands before an anchor: `<ANC>`, `<LA>`/`<RA>` for its direction, `<EXP>` for exponents."""

Kind = Literal["genbert", "mwp-bert", "vectors", "digits"]
"""What may stand before the path of a system: `genbert:FOLDER`, `vectors:FILE`, `digits:MODEL`."""

Pieces = Literal["words", "digits"]
"""How a model reads numbers: in its own word pieces, or digit by digit."""

NumeralForm = Literal["as-is", "digits"]
"""How priming writes a numeral: as it was, or without thousands separators."""

Errors = Literal["strict", "replace"]
"""What to do with bytes that are not UTF-8: refuse them, or put U+FFFD in their place."""

Precision = Literal["auto", "fp32", "bf16"]
"""What training computes in; auto is bf16 where the machine is fast at it, else fp32."""

Anchor = Literal["visible", "masked", "absent"]
"""What a model is shown of a numeral's anchor: `1999 <ANC> 86`, `1999 <ANC> [MASK]` or `1999`."""

Readout = Literal["all", "numeral", "marker", "anchor"]
"""Which tokens make a vector: all of them, or those of the numeral, its marker or its anchor."""
