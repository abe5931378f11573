"""The exception for input that a user can correct, and how it words the errors of libraries."""


class InputError(ValueError):
    """Input that cannot be used; the message says in one line what is wrong, where, and the fix."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, to quote it within a message of one line.

    >>> first_line(OSError("no such file" + chr(10) + "see https://example.org"))
    'no such file'
    """
    return str(error).strip().split("\n")[0]
