"""Text by the cells that it takes in a terminal: two for a wide character, none for a combining one."""

from __future__ import annotations

# Only a terminal has cells: what is piped does without the tables of `wcwidth`, which take longer to load than a search.

ELLIPSIS = "…"


def cells_of(text: str) -> int:
    """The cells that a text takes; control characters count as nothing, and should not be in it."""
    from wcwidth import wcswidth

    return max(wcswidth(text), 0)


def cut(text: str, room: int, ellipsis: str = ELLIPSIS) -> str:
    """The text, or as much of it as leaves room for an ellipsis of one cell; never half of a grapheme."""
    if cells_of(text) <= room:
        return text
    from wcwidth import iter_graphemes

    kept, used = "", 0
    for grapheme in iter_graphemes(text):
        used += cells_of(grapheme)
        if used > room - 1:
            break
        kept += grapheme
    return f"{kept}{ellipsis}"


def padded(text: str, width: int) -> str:
    """The text with blanks behind it, up to this many cells."""
    return text + " " * (width - cells_of(text))


def terminal_columns() -> int:
    """Cells in a line of the terminal, 80 where there is none; `COLUMNS` of the environment goes before."""
    import shutil  # loads every compressor there is: only whoever prints for a person needs it

    return shutil.get_terminal_size().columns
