"""Bounds: words such as `more than`, and which number is likely meant by them."""

BOUND = 1.0  # how much larger than X, in ln, `more than X` is
BOUNDS = {
    "more than": BOUND,
    "over": BOUND,
    "at least": BOUND,
    "above": BOUND,
    "less than": -BOUND,
    "under": -BOUND,
    "at most": -BOUND,
    "below": -BOUND,
}
