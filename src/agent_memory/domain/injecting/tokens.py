"""How many tokens a text takes at most, told without any model's tokenizer. Free of imports, since a hook uses it.

Each character adds its share, so the estimate of a whole is that of its parts: a budget can be kept without counting anything
twice. The shares lie above what the tokenizers of today's models come to on prose, code, paths, ids and other scripts
(`docs/inject.md` has the figures): better a note less than a budget that does not hold.
"""

UNITS_PER_TOKEN = 100

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = b"0123456789"
_SPACES = b" \t\n\r\x0b\x0c"

_LETTER_UNITS = 20
_SPACE_UNITS = 65
_DIGIT_UNITS = 120
_OTHER_UNITS = 85
"""Punctuation, control characters."""
_LAST_NARROW = 0x24F
_NARROW_UNITS = 120
"""Latin letters with marks."""
_LAST_MIDDLE = 0x10FF
_MIDDLE_UNITS = 80
"""Scripts such as Greek, Cyrillic, Hebrew, Arabic, Devanagari."""
_LAST_IN_PLANE = 0xFFFF
_WIDE_UNITS = 170
"""Chinese, Japanese, Korean, symbols."""
_BEYOND_UNITS = 400
"""Emoji and rare characters."""


def token_units(text: str) -> int:
    """The estimate in hundredths of a token: that of a whole text is the sum of those of its parts."""
    plain = text.encode("ascii", "ignore")
    letters = len(plain) - len(plain.translate(None, _LETTERS))
    spaces = len(plain) - len(plain.translate(None, _SPACES))
    digits = len(plain) - len(plain.translate(None, _DIGITS))
    others = len(plain) - letters - spaces - digits
    units = letters * _LETTER_UNITS + spaces * _SPACE_UNITS + digits * _DIGIT_UNITS + others * _OTHER_UNITS
    if len(plain) < len(text):
        units += sum(_units_beyond(ord(each)) for each in text if not each.isascii())
    return units


def tokens_in(text: str) -> int:
    """The estimate, rounded up."""
    return -(-token_units(text) // UNITS_PER_TOKEN)


def _units_beyond(code: int) -> int:
    if code <= _LAST_NARROW:
        return _NARROW_UNITS
    if code <= _LAST_MIDDLE:
        return _MIDDLE_UNITS
    return _WIDE_UNITS if code <= _LAST_IN_PLANE else _BEYOND_UNITS
