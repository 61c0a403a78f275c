"""Links between entries: `[[id__c3d4e5]]`, `[[id__c3d4e5|label]]`, and `[[ref:b]]` inside a reply. Never inside code."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable

from attrs import frozen

from agent_memory.domain.text.code_spans import find_code
from agent_memory.domain.text.ids import ID_PATTERN

SEE_ALSO = "See also:"
"""What stands before the links that were appended to a body, as its last paragraph."""

_LINK = re.compile(rf"\[\[({ID_PATTERN}|ref:[\w.-]{{1,64}})(?:\|([^\[\]\n]*))?\]\]")
_ANY_LINK = re.compile(rf"\[\[(?:{ID_PATTERN}|ref:[\w.-]{{1,64}})(?:\|([^\[\]\n]*))?\]\]")
_LAST_SEE_ALSO = re.compile(
    rf"^{SEE_ALSO}[ \t]*(?:(?P<links>[^\n]+)?|(?:\n[ \t]*)?(?:\n(?P<bullet>[ \t]*[-*+][ \t]+)[^\n]*)+)\Z", re.MULTILINE
)


@frozen
class Link:
    """One link in a body. `target` is an id or `ref:…`; `start` and `end` are offsets of the whole `[[…]]` in characters."""

    target: str
    label: str | None
    start: int
    end: int


def find_links(body: str) -> tuple[Link, ...]:
    """All links outside fenced code and code spans, in their order."""
    found = [Link(link[1], link[2], link.start(), link.end()) for link in _LINK.finditer(body)]
    if not found:
        return ()
    code = find_code(body).ranges
    return tuple(link for link in found if not _inside(link.start, code))


def append_see_also(body: str, ids: Iterable[str]) -> str:
    """The body with a link to each id: those it does not hold are appended under `See also:`. Doing it twice changes nothing."""
    held = {link.target for link in find_links(body)}
    missing = [f"[[{id}]]" for id in dict.fromkeys(ids) if id not in held]
    if not missing:
        return body
    text = body.rstrip()
    if fence := find_code(text).open_fence:
        text = f"{text}\n{fence}"  # or the links would be code
    elif last := _LAST_SEE_ALSO.search(text):
        if bullet := last["bullet"]:
            return text + "".join(f"\n{bullet}{link}" for link in missing)
        return f"{text}{',' if last['links'] else ''} {', '.join(missing)}"
    gap = "\n\n" if text else ""
    return f"{text}{gap}{SEE_ALSO} {', '.join(missing)}"


def without_see_also(body: str) -> str:
    """The body without the line of links at its end and without white space there: two bodies that say the same agree."""
    text = body.rstrip()
    last = _LAST_SEE_ALSO.search(text)
    return text[: last.start()].rstrip() if last else text


def without_see_also_of(body: str, ids: Collection[str]) -> str:
    """The body whose line of links at its end names none of these."""
    text = without_see_also(body)
    linked = [link.target for link in find_links(body) if link.start >= len(text)]
    return append_see_also(text, [id for id in linked if id not in ids]) if set(linked) & set(ids) else body


def without_links(text: str) -> str:
    """One line of text with each link replaced by its label, or left out where it has none."""
    return " ".join(_ANY_LINK.sub(lambda link: link[1] or "", text).split())


def _inside(position: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    index = bisect_right(ranges, position, key=lambda range: range[0]) - 1
    return index >= 0 and position < ranges[index][1]
