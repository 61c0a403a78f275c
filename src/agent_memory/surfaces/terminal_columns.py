"""How wide the terminal is."""

from __future__ import annotations


def terminal_columns() -> int:
    """Cells in a line of the terminal, 80 where there is none; `COLUMNS` of the environment goes before."""
    import shutil  # loads every compressor there is: only whoever prints for a person needs it

    return shutil.get_terminal_size().columns
