"""The consolidate prompt: a template filled with one window of a session and what memory knows already.

Whatever comes from outside stands inside random fences (`prompt_frame`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from attrs import field, frozen
from attrs.validators import min_len

from agent_memory.domain.agent_request import SessionRequest
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.history import History, Role, ToolCall, Turn
from agent_memory.domain.instants import DAY_MS, iso_of
from agent_memory.domain.redaction import redact, redact_path, stored_line
from agent_memory.domain.text.plain_text import clean_text, one_line
from agent_memory.domain.transcripts.own_marks import PROMPT_MARKER, marked_review
from agent_memory.domain.transcripts.turns import MIN_WINDOW_CHARS, turn_chars
from agent_memory.domain.vocabulary import GLOBAL_SCOPE
from agent_memory.errors import ConfigInvalid
from agent_memory.results import as_result

# -- the frame --------------------------------------------------------------------------------------------------------
# The frame that every prompt shares: the marker on the first line by which our own calls are recognised (P23), the nonce
# on the second and nowhere else, and data from outside that is cleaned (P18), redacted (P20) and can close no fence.


_PLACE = re.compile(r"\{\{(\w+)\}\}")


@frozen
class Frame:
    """The random words of one prompt, of at least 64 bits each."""

    nonce: str = field(validator=min_len(8))
    fence: str = field(validator=min_len(8))

    def fenced(self, text: str) -> str:
        """Plain text as it may stand in a fence."""
        for word in (self.nonce, self.fence):
            text = re.sub(re.escape(word), "[…]", text, flags=re.IGNORECASE)
        return text

    def note(self, id: str, text: str) -> str:
        """A note in full, in a fence of its own."""
        return f"<<<{self.fence} note {id}\n{self.fenced(text)}\n{self.fence}>>>"

    def filled(self, template: str, parts: Mapping[str, str]) -> str:
        """The prompt: marker, nonce, and the template with its places filled. Places in the parts are not filled again."""
        text = _PLACE.sub(lambda place: parts.get(place[1], place[0]), template.strip("\n"))
        return f"{PROMPT_MARKER}\nnonce: {self.nonce}\n\n{text}\n"


def template_problems(template: str, places: Collection[str]) -> tuple[str, ...]:
    """What makes a text unusable as the template of a prompt that has a `{{place}}` for each of these."""
    there = _PLACE.findall(template)
    missing = tuple(f"{{{{{place}}}}} is missing" for place in places if place not in there)
    return missing + tuple(f"{{{{{place}}}}} is unknown" for place in dict.fromkeys(there) if place not in places)


def plain(text: str) -> str:
    """One piece of text from outside, cleaned and redacted by itself: no secret reaches over its end."""
    return redact(clean_text(text).text).text


def fitting(lines: Iterable[str], max_chars: int) -> list[str]:
    """The first lines that fit, each with its line end."""
    kept: list[str] = []
    for line in lines:
        max_chars -= len(line) + 1
        if max_chars < 0:
            break
        kept.append(line)
    return kept


PLACES = ("fence", "session", "tags", "catalog", "notes", "transcript", "closing")
"""What a template has to have a `{{place}}` for."""

_HEAD_OF_A_TURN = re.compile(r"^(\s*)\[(\d+)\]", re.MULTILINE)

_MAX_FIELD_CHARS = 300
_SESSION_CHARS = 3_000
_TAGS_CHARS = 2_500
_SPARE_CHARS = 1_500
"""For what is counted nowhere: date lines, the count of unlisted notes, the fences."""
_SHOWN_SHARE, _CATALOG_SHARE = 3, 8
_MAX_CATALOG_TITLE_CHARS, _MAX_CATALOG_DESCRIPTION_CHARS = 120, 160
_MAX_TOOL_NAME_CHARS = 16


@frozen
class PromptBudget:
    """How many characters of a prompt are left for catalog, notes in full and transcript, and the first two at most."""

    room_chars: int
    shown_chars: int
    catalog_chars: int

    def window_chars(self, notes_chars: int) -> int:
        """What the transcript gets (by `windows.turn_chars`) beside so many characters of notes in full."""
        room = self.room_chars - self.catalog_chars - min(notes_chars, self.shown_chars)
        # The rest of a size goes to nothing: text that redaction or composed characters lengthened.
        return room * 49 // 50

    def beside(self, window: History) -> PromptBudget:
        """What this window leaves to the catalog and to notes in full."""
        room = self.room_chars - sum(map(turn_chars, window.turns)) * 50 // 49
        catalog_chars = max(0, min(self.catalog_chars, room))
        return PromptBudget(self.room_chars, max(0, min(self.shown_chars, room - catalog_chars)), catalog_chars)


@frozen
class PromptFacts:
    """What a prompt says."""

    frame: Frame
    request: SessionRequest
    """The window, and the notes in full, within `budget.shown_chars` by `related.note_chars`."""
    scope: str
    budget: PromptBudget
    catalog: Sequence[Listed] = ()
    """Of the scope and of `global`, without secret ones, the most related first."""
    vocabulary: tuple[str, ...] = ()
    """Tags in use, the most used first."""
    handoff_days: int = 7


@as_result
def plan_prompt_budget(template: str, max_prompt_chars: int, catalog: Sequence[Listed] = ()) -> PromptBudget:
    """How a prompt of at most this many characters is divided, given the entries that it could list: notes in full get at
    most a third, the catalog an eighth. Refused when the template leaves no room for a useful window."""
    fixed = len(template) + _SESSION_CHARS + _TAGS_CHARS + _SPARE_CHARS
    room = max_prompt_chars - fixed
    if room < 3 * MIN_WINDOW_CHARS:
        least = fixed + 3 * MIN_WINDOW_CHARS
        problem = f"llm.maxPromptChars is {max_prompt_chars:,}, and the prompt needs at least {least:,}"
        raise ConfigInvalid("in effect", (problem,))
    catalog_chars, most = 0, room // _CATALOG_SHARE
    for each in catalog:
        catalog_chars = min(catalog_chars + len(_catalog_line(each)) + 1, most)
        if catalog_chars == most:
            break
    return PromptBudget(room, room // _SHOWN_SHARE, catalog_chars)


def render_consolidate_prompt(template: str, facts: PromptFacts) -> str:
    """The prompt. The same facts give the same text; only what is data is in the fences, and all of it is."""
    frame, request = facts.frame, facts.request
    parts = {
        "fence": frame.fence,
        "session": frame.fenced(_session(facts)),
        "tags": frame.fenced(_tags(facts.vocabulary)),
        "catalog": frame.fenced(_catalog(facts)),
        "notes": "\n\n".join(frame.note(each.meta.id, _note(each)) for each in request.shown) or "(none)",
        "transcript": frame.fenced("\n".join(_turns(request.window.turns))),
        "closing": _closing(facts),
    }
    return frame.filled(template, parts)


# -- the session ------------------------------------------------------------------------------------------------------


def _session(facts: PromptFacts) -> str:
    window, entry = facts.request.window, facts.request.entry
    times = [iso_of(turn.at_ms)[:16] for turn in window.turns if turn.at_ms is not None]
    directory, branch = window.cwd or entry.context.cwd, entry.context.branch or window.branch
    lines = (
        ("harness", f"{entry.harness}{f' ({window.agent})' if window.agent else ''}"),
        ("title", window.title),
        ("repository", facts.scope if facts.scope != GLOBAL_SCOPE else None),
        ("directory", None if directory is None else redact_path(directory)),
        ("branch", None if branch is None else redact_path(branch)),
        ("session began", iso_of(window.started_at_ms)[:16] if window.started_at_ms else None),
        ("this part", f"from {times[0]} to {times[-1]} UTC" if times else None),
        ("read on", iso_of(facts.request.now_ms)[:10]),
    )
    return "\n".join(f"{name}: {stored_line(value, _MAX_FIELD_CHARS)}" for name, value in lines if value)


def _closing(facts: PromptFacts) -> str:
    request, sentences = facts.request, list[str]()
    times = [turn.at_ms for turn in request.window.turns if turn.at_ms is not None]
    if not request.final_window:
        sentences.append(
            "The session goes on after this part: leave what is still undecided to the next one, and write no handoff yet."
        )
    elif max(times, default=request.now_ms) + facts.handoff_days * DAY_MS <= request.now_ms:
        sentences.append(
            f"The session ended more than {facts.handoff_days} days ago: write no handoff; what is still open and matters is a `task`."
        )
    if request.handoff_id is not None:
        sentences.append(
            f"This session has a handoff already, {request.handoff_id}: bring it up to date in `updates` instead of writing another."
        )
    return " ".join(sentences)


# -- what memory knows ------------------------------------------------------------------------------------------------


def _tags(vocabulary: Iterable[str]) -> str:
    return " ".join(fitting(vocabulary, _TAGS_CHARS)) or "(none yet)"


def _catalog(facts: PromptFacts) -> str:
    lines = fitting(map(_catalog_line, facts.catalog), facts.budget.catalog_chars)
    unlisted = len(facts.catalog) - len(lines)
    if unlisted:
        lines.append(f"({unlisted:,} more, less related, are not listed)")
    return "\n".join(lines) or "(none yet)"


def _catalog_line(listed: Listed) -> str:
    meta = listed.meta
    parts = (
        meta.id,
        meta.kind.value,
        stored_line(meta.title, _MAX_CATALOG_TITLE_CHARS),
        stored_line(meta.description, _MAX_CATALOG_DESCRIPTION_CHARS),
        " ".join(meta.tags[:6]),
        "global" if meta.scope == GLOBAL_SCOPE else "",
    )
    return plain(" | ".join(part for part in parts if part))


def _note(stored: StoredEntry) -> str:
    meta = stored.meta
    confidence = "" if meta.confidence is None else f", confidence {meta.confidence:g}"
    return plain(
        f"about: {meta.kind.value}, {meta.scope}, from {iso_of(meta.created_at_ms)[:10]}, origin {meta.origin.value},"
        f" importance {meta.importance.value}{confidence}{', pinned: it cannot be changed' if meta.pinned else ''}\n"
        f"title: {one_line(meta.title, 1_000)}\ndescription: {one_line(meta.description, 1_000)}\n"
        f"tags: {' '.join(meta.tags)}\nbody:\n{stored.body}"
    )


# -- the transcript ---------------------------------------------------------------------------------------------------


def _turns(turns: Iterable[Turn]) -> Iterator[str]:
    day = ""
    for turn in turns:
        if turn.at_ms is not None and iso_of(turn.at_ms)[:10] != day:
            day = iso_of(turn.at_ms)[:10]
            yield f"-- {day} --"
        yield _turn(turn)


def _turn(turn: Turn) -> str:
    # Text cannot begin a turn of its own: in it, `[12]` at the start of a line becomes `(12)`.
    said = marked_review(turn.text) if turn.role is Role.USER else turn.text
    text = _HEAD_OF_A_TURN.sub(r"\1(\2)", plain(said).strip("\n"))
    cut = " […]" if turn.clipped_chars else ""
    calls = "".join(f"\n{_call(call)}" for call in turn.tool_calls)
    return f"[{turn.number}] {_speaker(turn)}: {text}{cut}{calls}"


def _speaker(turn: Turn) -> str:
    if turn.role is not Role.TOOL:
        return turn.role.value
    name = one_line(turn.tool_name or "", _MAX_TOOL_NAME_CHARS)
    return f"tool{f' {name}' if name else ''}{' (failed)' if turn.failed else ''}"


def _call(call: ToolCall) -> str:
    path = f" {call.path}" if call.path and call.path not in call.brief else ""
    line = f"{call.name}{' (writes)' if call.writes else ''}{path}{f': {call.brief}' if call.brief else ''}"
    return f"  -> {plain(one_line(line, len(line) + 1))}"
