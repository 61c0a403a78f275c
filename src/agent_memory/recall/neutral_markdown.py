"""A note's markdown made safe for somebody else's file (P18): nothing in it acts, and nothing in it hides.

The result reads the same to every parser, CommonMark or a tool's regular expressions: fences start at the margin and
are closed, a code span ends on its line, and outside code there is no heading above a given level, no import, no tag,
no comment, no image, no link definition. The text stays readable: what would act is escaped, not removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_memory.note.note import NAMES, OF_THE_TEAM, Kind, Listed, Meta, Origin, StoredEntry
from agent_memory.recall.assembling import Passage
from agent_memory.recall.grounding import named_by
from agent_memory.recall.moment import unread_session
from agent_memory.redaction.redact import redact
from agent_memory.session.history import Role
from agent_memory.text.instants import day_of
from agent_memory.text.markdown import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, CheckBoxes, check_boxes, without_see_also
from agent_memory.text.plain_text import clean_text, one_line
from agent_memory.text.salience import is_directive

if TYPE_CHECKING:
    from agent_memory.extraction.handoff import Handover  # which reads sessions
    from agent_memory.recall.candidates import Shown


LOWEST_HEADING = 6

_MARKERS = r"(?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)|[ \t]*>)*[ \t]*"
_LINE = re.compile(rf"(?P<markers>{_MARKERS})(?P<text>.*)", re.DOTALL)
_FENCE = re.compile(r"(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<language>.*)", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*")
_DEFINITION = re.compile(r"\[(?=(?:\\.|[^\[\]\\])*(?:\]:|\\?$))")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)")
_ESCAPED_OR_SPAN = re.compile(rf"\\`|{_CODE_SPAN.pattern}")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_IMPORT = re.compile(r"(?<![\w.+-])@(?=[^\s@])")
_ENTITY = re.compile(r"&(?=#\d|#[xX][0-9a-fA-F])")
# Also inside code: harnesses and other tools look for these with regular expressions, wherever they stand.
_HIDING = re.compile(
    r"<(?=!--|/?(?:[a-z]+[-_])*"
    r"(?:context|reminder|instructions?|memory|memories|rules|prompt|notification|system|skill)(?:[-_][a-z]+)*[\s>/])",
    re.IGNORECASE,
)
_MANAGED_BLOCK = re.compile(r"\b(BEGIN|START|END)(?= (?:[A-Z]+ )*(?:MANAGED|GENERATED)\b)")


def neutral_body(text: str, top_level: int) -> str:
    """Returns the text with its highest heading at `top_level`, the others below it in proportion, and fences closed."""
    lines = clean_text(text).strip("\n").rstrip().split("\n")
    shift = max(top_level - _highest_heading(lines), 0)
    return "\n".join(_neutral_lines(lines, shift))


def neutral_line(text: str, max_chars: int) -> str:
    """Returns the text on one line of at most about `max_chars` characters, for a heading or a list item; code spans
    stay."""
    return _neutral_inline(one_line(text, max_chars))


def _neutral_lines(lines: list[str], shift: int) -> Iterator[str]:
    fence, dent, previous = "", 0, ""
    for line in lines:
        if fence:
            if _closes(line, fence):
                yield fence
                fence = previous = ""
            else:
                # Returns the line with its indentation or quotation marks reduced by those of the line with the fence.
                kept = re.match(r"[ \t>]*", line[:dent])
                yield _neutral_code(line[kept.end() :] if kept else line)
            continue
        parts = _LINE.fullmatch(line)
        markers, content = (parts["markers"], parts["text"]) if parts else ("", line)
        opening = _FENCE.fullmatch(content)
        if opening:
            if markers.strip(" \t>"):
                yield from ([""] if previous.strip() else [])  # or a dash would make a heading of the line above
                yield markers.rstrip()
            fence, dent = opening["fence"], len(markers)
            yield fence + _neutral_code(opening["language"].replace("`", "'").rstrip())
            continue
        previous = _neutral_prose(markers, content, shift, previous)
        yield previous
    if fence:
        yield fence


def _neutral_prose(markers: str, content: str, shift: int, previous: str) -> str:
    if heading := _HEADING.match(content):
        level = min(len(heading[1]) + shift, LOWEST_HEADING)
        return f"{markers}{'#' * level}{_neutral_inline(content[heading.end() :])}"
    if previous.strip() and _UNDERLINE.fullmatch(content):
        return f"{markers}\\{content}"  # or it would make a heading of the line above
    if previous.strip() and not content and markers.rstrip().endswith("-"):
        return f"{markers.rstrip()[:-1]}\\-"
    text = _neutral_inline(content)
    return f"{markers}\\{text}" if _DEFINITION.match(text) else markers + text


def _neutral_inline(text: str) -> str:
    text = _ESCAPED_OR_SPAN.sub(_without_escape, text)
    parts, position = list[str](), 0
    for span in _CODE_SPAN.finditer(text):
        code = _neutral_code(span[0])
        # In a table a bar ends the cell, and the span with it.
        parts += [_neutral_words(text[position : span.start()]), _IMPORT.sub("@ ", code) if "|" in code else code]
        position = span.end()
    return "".join((*parts, _neutral_words(text[position:])))


def _without_escape(found: re.Match[str]) -> str:
    """Returns what no parser takes for an escaped backtick. In a code span a backslash escapes nothing (CommonMark), but to
    some tools it does: a space parts the two at its end."""
    ticks = found[1] or ""
    code = found[0].removeprefix(ticks).removesuffix(ticks).replace("\\`", "'")
    return f"{ticks}{code} {ticks}" if code.endswith("\\") else f"{ticks}{code}{ticks}"


def _neutral_words(text: str) -> str:
    """Neutralises prose without code. A lone backtick would pair with one on another line, and swap code and prose."""
    text = _neutral_code(text.replace("`", "'"))
    text = _ENTITY.sub("&amp;", _TAG.sub("&lt;", text))
    return _IMPORT.sub("@ ", text).replace("![", "!\\[")


def _neutral_code(text: str) -> str:
    """Neutralises code: only what other tools look for with regular expressions is broken up."""
    text = _HIDING.sub("&lt;", text) if "<" in text else text
    return _MANAGED_BLOCK.sub(lambda found: found[1].lower(), text)


def _highest_heading(lines: list[str]) -> int:
    fence, highest = "", LOWEST_HEADING
    for line in lines:
        content = _LINE.sub(lambda parts: parts["text"], line, count=1)
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif opening := _FENCE.fullmatch(content):
            fence = opening["fence"]
        elif heading := _HEADING.match(content):
            highest = min(highest, len(heading[1]))
    return highest


def _closes(line: str, fence: str) -> bool:
    marker = line.strip(" \t>")
    return len(marker) >= len(fence) and set(marker) == {fence[0]}


# -- a note, shown ----------------------------------------------------------------------------------------------------
# How a note, or the end of a session that was cut off, is shown to an agent that did not ask for it: redacted,
# neutral, with its origin (P18-P20).


TITLE_LEVEL = 3
"""The level of the heading above each note that is shown whole; no heading in its text is as high."""

_MOST_BOXES = 20
_BOX_CHARS = 300

_SAID_BY = {
    Origin.USER: "from the person",
    Origin.AGENT: "concluded by an agent",
    Origin.EXTERNAL: "from a tool, page or file",
}


def whole_note(stored: StoredEntry, more: str = "") -> str:
    """Returns title as a heading, a line of facts that begins with the id, and what the note says besides. `more`, here and
    below, is added to these facts."""
    return _whole(stored.meta, more, neutral_body(redact(_said_besides(stored)).text, TITLE_LEVEL + 1))


def _said_besides(stored: StoredEntry) -> str:
    """Returns the body without a first line that repeats the title, and without ids at its end that name nothing."""
    body = without_see_also(stored.body).lstrip("\n")
    first, _, rest = body.partition("\n")
    return rest if first.lstrip("#").strip() == one_line(stored.meta.title, MAX_TITLE_CHARS) else body


def _whole(meta: Meta, more: str, body: str) -> str:
    return f"{'#' * TITLE_LEVEL} {shown_title(meta)}\n\n{facts_line(meta, more)}\n\n{body}".rstrip()


def facts_beside(listed: Listed, contradicted_by: str, *marks: str) -> tuple[str, ...]:
    """Returns what is added to the facts of a note: that it is the team's, which note contradicts and outranks it, and
    marks, such as that its branch is not merged."""
    by = contradicted_by and f"contradicted by {contradicted_by}"
    said = (neutral_line(redact(each).text, _BOX_CHARS) for each in marks)
    return tuple(filter(None, (OF_THE_TEAM if listed.is_team else "", by, *said)))


def _mark(meta: Meta) -> str:
    return meta.id if meta.origin is Origin.USER or meta.promoted_by else f"{meta.id}, agent"


def facts_line(meta: Meta, more: str = "") -> str:
    """Returns the id of the note, its kind, who says it, and its days."""
    vouched = ", vouched for by the person" if meta.promoted_by and meta.origin is not Origin.USER else ""
    said = f"{_SAID_BY[meta.origin]}{vouched}"
    return f"{meta.id} · {meta.kind.value} · {said} · {_days(meta)}{more}"


def _days(meta: Meta) -> str:
    """Returns the day of which it tells, and that of its last change, which may have been of its wording alone."""
    told, changed = day_of(meta.created_at_ms), day_of(meta.updated_at_ms)
    return told if changed <= told else f"{told}, updated {changed}"


def shown_title(meta: Meta) -> str:
    """Returns the title on one line; the id where nothing of it can be shown."""
    return neutral_line(redact(meta.title).text, MAX_TITLE_CHARS) or meta.id


def passage_of(shown: Shown, branch: str = "", scope: str = "") -> Passage | None:
    """Returns the note as a passage for sessions of this scope; None for a task with nothing open. A note that is only its
    title is one line."""
    stored, meta = shown.stored, shown.stored.meta
    facts = "".join(f", {each}" for each in facts_beside(stored.listed, shown.contradicted_by, branch))
    boxes = check_boxes(stored.body) if meta.kind is Kind.TASK else CheckBoxes()
    if boxes.done and not boxes.open:
        return None
    whole = ""
    if shown.whole and _said_besides(stored).strip():
        if boxes.open:
            lines = [f"- [ ] {neutral_line(redact(box).text, _BOX_CHARS)}" for box in boxes.open[:_MOST_BOXES]]
            more = len(boxes.open) - _MOST_BOXES
            lines += [f"- and {more} more: `memory read {meta.id}`"] if more > 0 else []
            whole = _whole(meta, facts, "\n".join(lines))
        else:
            whole = whole_note(stored, facts)
    named = named_by(meta, stored.entry.whole, scope)
    sayable = frozenset(redact("\n".join(named.names)).text.split("\n")) if named.names else ()
    since = tuple(each for each in named.names if each in sayable), named.commit, named.since_ms, named.cwd
    title, description = shown_title(meta), neutral_line(redact(meta.description).text, MAX_DESCRIPTION_CHARS)
    said = "" if title.startswith(description.removesuffix(".")) else f": {description}"
    brief = f"- {title}{said} ({_mark(meta)}, {_days(meta)}{facts})"
    return Passage(meta.id, shown.section, whole, brief, f"- {title} ({_mark(meta)}{facts})", *since)


# -- the last words of a session that was cut off ----------------------------------------------------------------------


def recovery_passage(handover: Handover) -> Passage | None:
    """Returns the last words of a session that was cut off; None where there are none. An agent's words count as its
    conclusion: they are left out where they tell an agent what to do, or repeat what only a foreign source said."""
    lines: list[str] = []
    for each in handover.exchanges:
        if each.role is Role.AGENT and (each.repeats_a_page or is_directive(each.text)):
            continue
        body = neutral_body(redact(each.text).text, TITLE_LEVEL + 1)
        lines += ("", f"{each.speaker}:", *(f"> {line}".rstrip() for line in body.split("\n")))
    if not lines:
        return None
    name = NAMES[handover.harness]
    told = f"The {name} session {handover.session_id} was cut off, or is still at work"
    unread = unread_session(handover.harness.value, handover.session_id, told)
    whole = "\n".join((f"{told}. The last words in it were:", *lines))
    return Passage(unread.id, unread.section, whole, unread.brief)
