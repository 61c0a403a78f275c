"""The consolidate prompt: a template filled with one window of a session and what memory knows already.

Whatever comes from outside stands inside random fences (`prompt_frame`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from attrs import field, frozen
from attrs.validators import min_len
from returns.result import Failure, Result, Success

from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.history import History, Role, ToolCall, Turn
from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.domain.instants import DAY_MS, iso_of
from agent_memory.domain.planning.drafts import stored_line
from agent_memory.domain.redaction import redact_path
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.transcripts.pasted_reviews import marked_review
from agent_memory.domain.transcripts.windows import MIN_WINDOW_CHARS, turn_chars
from agent_memory.domain.vocabulary import GLOBAL_SCOPE
from agent_memory.errors import ConfigInvalid
from agent_memory.formats.prompt_frame import fenced, fill_template, plain

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
    """What a prompt says. `nonce` and `fence` are random words of at least 64 bits."""

    nonce: str = field(validator=min_len(8))
    fence: str = field(validator=min_len(8))
    entry: InboxEntry
    window: History
    scope: str
    now_ms: int
    budget: PromptBudget
    catalog: Sequence[Listed] = ()
    """Of the scope and of `global`, without secret ones, the most related first."""
    shown: tuple[StoredEntry, ...] = ()
    """Within `budget.shown_chars` by `related.note_chars`."""
    vocabulary: tuple[str, ...] = ()
    """Tags in use, the most used first."""
    handoff_id: str | None = None
    """The session's earlier handoff, among `shown`."""
    final_window: bool = True
    handoff_days: int = 7


def plan_prompt_budget(
    template: str, max_prompt_chars: int, catalog: Sequence[Listed] = ()
) -> Result[PromptBudget, ConfigInvalid]:
    """How a prompt of at most this many characters is divided, given the entries that it could list: notes in full get at
    most a third, the catalog an eighth. Refused when the template leaves no room for a useful window."""
    fixed = len(template) + _SESSION_CHARS + _TAGS_CHARS + _SPARE_CHARS
    room = max_prompt_chars - fixed
    if room < 3 * MIN_WINDOW_CHARS:
        least = fixed + 3 * MIN_WINDOW_CHARS
        problem = f"llm.maxPromptChars: is {max_prompt_chars:,}, and the prompt needs at least {least:,}"
        return Failure(ConfigInvalid("in effect", (problem,)))
    catalog_chars = _catalog_chars(catalog, room // _CATALOG_SHARE)
    return Success(PromptBudget(room, room // _SHOWN_SHARE, catalog_chars))


def render_consolidate_prompt(template: str, facts: PromptFacts) -> str:
    """The prompt. The same facts give the same text; only what is data is in the fences, and all of it is."""
    parts = {
        "fence": facts.fence,
        "session": _fenced(_session(facts), facts),
        "tags": _fenced(_tags(facts.vocabulary), facts),
        "catalog": _fenced(_catalog(facts), facts),
        "notes": "\n\n".join(_note(stored, facts) for stored in facts.shown) or "(none)",
        "transcript": _fenced("\n".join(_turns(facts.window.turns)), facts),
        "closing": _closing(facts),
    }
    return fill_template(template, parts, facts.nonce)


def _fenced(text: str, facts: PromptFacts) -> str:
    return fenced(text, facts.nonce, facts.fence)


# -- the session ------------------------------------------------------------------------------------------------------


def _session(facts: PromptFacts) -> str:
    window, context = facts.window, facts.entry.context
    first, last = _first_time(window), _last_time(window)
    lines = (
        ("harness", f"{facts.entry.harness}{f' ({window.agent})' if window.agent else ''}"),
        ("title", window.title),
        ("repository", facts.scope if facts.scope != GLOBAL_SCOPE else None),
        ("directory", _redacted_path(window.cwd or context.cwd)),
        ("branch", _redacted_path(context.branch or window.branch)),
        ("session began", iso_of(window.started_at_ms)[:16] if window.started_at_ms else None),
        ("this part", f"from {first} to {last} UTC" if first and last else None),
        ("read on", iso_of(facts.now_ms)[:10]),
    )
    return "\n".join(f"{name}: {stored_line(value, _MAX_FIELD_CHARS)}" for name, value in lines if value)


def _redacted_path(path: str | None) -> str | None:
    return None if path is None else redact_path(path)


def _first_time(window: History) -> str | None:
    return next((iso_of(turn.at_ms)[:16] for turn in window.turns if turn.at_ms is not None), None)


def _last_time(window: History) -> str | None:
    return next((iso_of(turn.at_ms)[:16] for turn in reversed(window.turns) if turn.at_ms is not None), None)


def _closing(facts: PromptFacts) -> str:
    sentences: list[str] = []
    if not facts.final_window:
        sentences.append(
            "The session goes on after this part: leave what is still undecided to the next one, and write no handoff yet."
        )
    elif _is_old(facts):
        sentences.append(
            f"The session ended more than {facts.handoff_days} days ago: write no handoff; what is still open and matters is a `task`."
        )
    if facts.handoff_id is not None:
        sentences.append(
            f"This session has a handoff already, {facts.handoff_id}: bring it up to date in `updates` instead of writing another."
        )
    return " ".join(sentences)


def _is_old(facts: PromptFacts) -> bool:
    ended_at_ms = max((turn.at_ms for turn in facts.window.turns if turn.at_ms is not None), default=facts.now_ms)
    return ended_at_ms + facts.handoff_days * DAY_MS <= facts.now_ms


# -- what memory knows ------------------------------------------------------------------------------------------------


def _tags(vocabulary: Iterable[str]) -> str:
    text = ""
    for tag in vocabulary:
        if len(text) + len(tag) + 1 > _TAGS_CHARS:
            break
        text += f"{tag} "
    return text.strip() or "(none yet)"


def _catalog_chars(catalog: Sequence[Listed], most: int) -> int:
    """How many characters the lines of all these take, or as many as there may be."""
    listed = 0
    for each in catalog:
        listed += len(_catalog_line(each)) + 1
        if listed >= most:
            return most
    return listed


def _catalog(facts: PromptFacts) -> str:
    lines: list[str] = []
    room = facts.budget.catalog_chars
    for listed in facts.catalog:
        line = _catalog_line(listed)
        if len(line) + 1 > room:
            break
        lines.append(line)
        room -= len(line) + 1
    unlisted = len(facts.catalog) - len(lines)
    if unlisted:
        lines.append(f"({unlisted:,} more, less related, are not listed)")
    return "\n".join(lines) or "(none yet)"


def _catalog_line(listed: Listed) -> str:
    meta = listed.meta
    description = stored_line(meta.description, _MAX_CATALOG_DESCRIPTION_CHARS)
    parts = (
        meta.id,
        meta.kind.value,
        stored_line(meta.title, _MAX_CATALOG_TITLE_CHARS),
        description,
        " ".join(meta.tags[:6]),
        "global" if meta.scope == GLOBAL_SCOPE else "",
    )
    return plain(" | ".join(part for part in parts if part))


def _note(stored: StoredEntry, facts: PromptFacts) -> str:
    meta = stored.meta
    about = (
        f"{meta.kind.value}, {meta.scope}, from {iso_of(meta.created_at_ms)[:10]}, origin {meta.origin.value},"
        f" importance {meta.importance.value}{'' if meta.confidence is None else f', confidence {meta.confidence:g}'}"
        f"{', pinned: it cannot be changed' if meta.pinned else ''}"
    )
    text = (
        f"about: {about}\ntitle: {one_line(meta.title, 1_000)}\ndescription: {one_line(meta.description, 1_000)}\n"
        f"tags: {' '.join(meta.tags)}\nbody:\n{stored.body}"
    )
    return f"<<<{facts.fence} note {meta.id}\n{_fenced(plain(text), facts)}\n{facts.fence}>>>"


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
