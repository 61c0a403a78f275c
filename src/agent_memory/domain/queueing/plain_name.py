"""Names that need no redaction. Free of imports, since capture uses it inside every turn of every agent."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAST_CHARS = 8
"""Of letters and digits in one row that no word and no number makes up."""
_LONGEST_WORD_CHARS = 16
_SEPARATORS = "/._-"


def is_plain_name(name: str) -> bool:
    """Whether the name (of a branch) is words and numbers only, so that no rule of redaction finds anything in it."""
    return name.isascii() and all(map(_is_plain_run, _runs(name)))


def _runs(name: str) -> "Iterator[str]":
    for separator in _SEPARATORS[1:]:
        name = name.replace(separator, _SEPARATORS[0])
    return filter(None, name.split(_SEPARATORS[0]))


def _is_plain_run(run: str) -> bool:
    if run.isdigit():
        return len(run) <= _LEAST_CHARS
    if not run.isalnum():
        return False
    return len(run) < (_LONGEST_WORD_CHARS if run.isalpha() else _LEAST_CHARS)
