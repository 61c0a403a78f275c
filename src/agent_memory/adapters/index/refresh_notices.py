"""What is said of an index that was damaged, and of files that it does not hold."""

MADE_ANEW = "The index was damaged, and was made anew."


def pending_notice(pending: int) -> str:
    """Of files that there was no time for."""
    files = "1 changed file is" if pending == 1 else f"{pending:,} changed files are"
    return f"{files} not in the index yet; the next search takes in more."


def unreadable_notice(unreadable: int) -> str:
    """Of files that could not be read."""
    files, they = ("1 file was", "it") if unreadable == 1 else (f"{unreadable:,} files were", "they")
    return f"{files} not searched, since {they} could not be read; `memory doctor` tells more."
