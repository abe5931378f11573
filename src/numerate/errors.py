"""The one exception for what a user can mend: bad input, told in a single line."""


class InputError(ValueError):
    """Input that cannot be used; the message says what, where and what to do."""
