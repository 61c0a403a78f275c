"""Operands that stand on both sides of an option."""

from __future__ import annotations

import argparse


def intermixed(parser: argparse.ArgumentParser, words: list[str], left: list[str]) -> argparse.Namespace:
    """The arguments in words of which `left` were left over when the operands were taken from one place: those of
    `search lock --kind lesson zebra`. Ends the process with what is wrong where they are none."""
    before = left[: left.index("--")] if "--" in left else left
    try:
        if not any(word.startswith("-") for word in before):
            return parser.parse_intermixed_args(words)
    except TypeError:  # of a parser in which an operand and an option exclude each other
        pass
    return parser.parse_args(words)  # which says what is wrong
