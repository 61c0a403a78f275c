"""Rules for the values in an inbox entry, shared by the hook's writer and the full one. Imports nothing.

Each rule returns what is wrong with a value, as the end of a sentence that begins with its key, or None.
"""

MAX_PATH_BYTES = 4_096

LETTERS_AND_DIGITS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
ID_CHARACTERS = LETTERS_AND_DIGITS | frozenset("._:@+=~-")
"""The characters of session ids, which reach file names and command lines (P21): no separator, no space, nothing that a
shell or a terminal interprets. The first is a letter or a digit, so that no id looks like an option or a hidden file.
"""

WORD_CHARACTERS = LETTERS_AND_DIGITS | frozenset("_.:-")


def shown(value: object) -> str:
    """Returns a value as problems show it: short, and safe on any terminal."""
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = repr(value) if isinstance(value, str) and value.isprintable() else ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def text_problem(value: object, max_chars: int, *, lines: bool = False) -> str | None:
    """Accepts non-blank text within `max_chars` without control characters (with `lines`: other than \\n and \\t)."""
    if not isinstance(value, str):
        return f"is {shown(value)}, expected text"
    if not value.strip():
        return "is empty"
    if len(value) > max_chars:
        return f"has {len(value):,} characters, at most {max_chars:,} are allowed"
    for character in () if value.isprintable() else value:
        code = ord(character)
        if (code < 0x20 and not (lines and character in "\n\t")) or 0x7F <= code <= 0x9F:
            return f"holds the control character U+{code:04X}"
        if 0xD800 <= code <= 0xDFFF:
            return f"holds half of a surrogate pair, U+{code:04X}, which is not text"
    return None


def id_problem(value: object) -> str | None:
    """Accepts a session's id: `ID_CHARACTERS` only, the first a letter or digit."""
    problem = text_problem(value, 200)
    if problem is not None or not isinstance(value, str):
        return problem
    if not ID_CHARACTERS.issuperset(value):
        return f"is {shown(value)}, expected letters, digits and ._:@+=~- only"
    return None if value[0] in LETTERS_AND_DIGITS else f"is {shown(value)}, expected a letter or digit first"


def path_problem(value: object) -> str | None:
    """Accepts an absolute path of at most 4,096 bytes."""
    problem = text_problem(value, MAX_PATH_BYTES)
    if problem is not None or not isinstance(value, str):
        return problem
    if len(value.encode()) > MAX_PATH_BYTES:
        return f"has {len(value.encode()):,} bytes, at most {MAX_PATH_BYTES:,} are allowed"
    return None if value.startswith("/") else f"is {shown(value)}, expected an absolute path"


def word_problem(value: object) -> str | None:
    """Accepts one short word, such as an event or a reason; never a sentence, so nothing that somebody wrote."""
    problem = text_problem(value, 64)
    if problem is not None or not isinstance(value, str):
        return problem
    return None if WORD_CHARACTERS.issuperset(value) else f"is {shown(value)}, expected one word"


def ref_problem(value: object) -> str | None:
    """Accepts a branch or a repository's key."""
    return text_problem(value, 500)


def commit_problem(value: object) -> str | None:
    """Accepts a full commit id: 40 or 64 hexadecimal digits."""
    problem = text_problem(value, 64)
    if problem is not None or not isinstance(value, str):
        return problem
    well_formed = len(value) in (40, 64) and frozenset("0123456789abcdef").issuperset(value)
    return None if well_formed else f"is {shown(value)}, expected 40 or 64 hexadecimal digits"


def version_problem(value: object) -> str | None:
    """Accepts a harness's version."""
    return text_problem(value, 64)


# -- names that need no redaction -------------------------------------------------------------------------------------

_LEAST_CHARS = 8
"""The shortest run of mixed letters and digits that redaction may take for a secret."""
_LONGEST_WORD_CHARS = 16
_SEPARATORS = "/._-"


def has_plain_words(name: str) -> bool:
    """Returns whether a name (of a branch) has only words and numbers, so that no redaction rule can match in it."""
    if not name.isascii():
        return False
    for separator in _SEPARATORS:
        name = name.replace(separator, " ")
    for run in filter(None, name.split(" ")):
        longest = _LEAST_CHARS if run.isdigit() else _LONGEST_WORD_CHARS - 1 if run.isalpha() else _LEAST_CHARS - 1
        if not run.isalnum() or len(run) > longest:
            return False
    return True
