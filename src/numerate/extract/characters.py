"""Characters in UTF-8 bytes: those before an offset, and those that numerals must not touch."""

import unicodedata
from functools import lru_cache


def character_before(data: bytes, end: int) -> bytes:
    """Return the bytes of the character that ends at an offset; none at the start of the data."""
    start = end - 1
    while start > 0 and data[start] & 0xC0 == 0x80:
        start -= 1
    return data[max(start, 0) : end]


def touches_before(data: bytes, start: int) -> bool:
    """Return whether a letter, digit or underscore ends at an offset."""
    if start == 0:
        return False
    byte = data[start - 1]
    return IN_WORD[byte] if byte < 128 else _in_word(character_before(data, start))


def touches_after(data: bytes, end: int) -> bool:
    """Return whether a letter, digit or underscore starts at an offset."""
    if end == len(data):
        return False
    byte = data[end]
    if byte < 128:
        return IN_WORD[byte]
    return _in_word(data[end : end + (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4)])


@lru_cache(maxsize=4096)
def _in_word(encoded: bytes) -> bool:
    """Return whether a character is a letter, a digit of any script, or an underscore."""
    character = encoded.decode("utf-8", "surrogatepass")
    return is_letter(encoded) or character.isalnum() or character == "_"


def is_letter(encoded: bytes) -> bool:
    """Return whether a character is a letter or a mark on one, such as the vowel signs of Hindi."""
    character = encoded.decode("utf-8", "surrogatepass")
    return character.isalpha() or unicodedata.category(character or " ")[0] == "M"


IN_WORD = [_in_word(bytes([code])) for code in range(128)]
