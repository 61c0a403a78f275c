"""Redaction of text that comes in pieces and is never held as a whole (P20, P25)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from agent_memory.domain.redacting.blocks import PRIVATE, open_private_spans
from agent_memory.domain.redacting.rule import Span
from agent_memory.domain.redaction import Redacted, placeholder, redact, secret_spans

WINDOW_CHARS = 1 << 20
"""How much is looked at together."""
KEPT_CHARS = 1 << 17
"""How much of the end of a window waits for what follows: more than any secret that has an end."""

_REACH_CHARS = 1000
"""How far before a secret what announces it may stand."""
_OPEN_AGAIN = "<private>"


def redacted_pieces(
    pieces: Iterable[str], window_chars: int = WINDOW_CHARS, kept_chars: int = KEPT_CHARS
) -> Iterator[Redacted]:
    """The text of `pieces`, redacted, part by part; joined it is the whole text.

    A secret is found wherever the pieces cut it, as long as it and what announces it are shorter than `kept_chars`. A
    `<private>` span may be of any length. At most two windows are held, whatever the whole is.
    """
    waiting = ""
    for piece in pieces:
        for first in range(0, len(piece), window_chars):
            waiting += piece[first : first + window_chars]
            if len(waiting) >= window_chars + kept_chars:
                done, waiting = _split(waiting, kept_chars)
                yield done
    if waiting:
        yield redact(waiting)


def secrets_in(pieces: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """How many secrets of each name the text of `pieces` holds, by name."""
    counts: Counter[str] = Counter()
    for done in redacted_pieces(pieces):
        counts.update(dict(done.found))
    return tuple(sorted(counts.items()))


def _split(text: str, kept_chars: int) -> tuple[Redacted, str]:
    """The redacted beginning of the text, and the rest as it is."""
    wanted = text.rfind("\n", 0, len(text) - kept_chars) + 1 or len(text) - kept_chars
    spans = secret_spans(text)
    cut = _place_between(spans, wanted, _REACH_CHARS) or _place_between(spans, wanted, 0)
    if cut:
        return redact(text[:cut]), text[cut:]
    name = spans[0].name
    still_open = open_private_spans(text[:wanted]) if name == PRIVATE else 0
    return Redacted(placeholder(name), ((name, 1),)), _OPEN_AGAIN * still_open + text[wanted:]


def _place_between(spans: tuple[Span, ...], wanted: int, reach_chars: int) -> int:
    """The last place up to `wanted` that parts no secret from what announces it; 0 when there is none."""
    cut = wanted
    for span in reversed(spans):
        if span.start - reach_chars < cut < span.end:
            cut = max(0, span.start - reach_chars)
    return cut
