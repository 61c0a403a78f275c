"""The prompts: consolidate's template filled with one window of a session and what memory already knows, defrag's with
what the store holds, findings about it, and some notes whole.

All text from outside is in random fences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, field, frozen
from attrs.validators import min_len

from agent_memory.errors import ConfigInvalid
from agent_memory.note.note import GLOBAL_SCOPE, Importance, Listed, Meta, Sensitivity, StoredEntry, Tier, TierList
from agent_memory.redaction.redact import redact, redact_path, stored_line
from agent_memory.results import as_result
from agent_memory.rules.drafts import has_secret
from agent_memory.rules.plan import DefragRequest, SessionRequest
from agent_memory.rules.tiers import best_now
from agent_memory.session.history import History, Role, ToolCall, Turn
from agent_memory.session.own_marks import PROMPT_MARKER, marked_review
from agent_memory.session.windows import MIN_WINDOW_CHARS, turn_chars
from agent_memory.text.instants import DAY_MS, day_of, iso_of
from agent_memory.text.markdown import derive_description
from agent_memory.text.plain_text import clean_text, first_few, one_line

# -- the frame --------------------------------------------------------------------------------------------------------
# The frame of every prompt: the marker on the first line, which identifies our own calls (P23), the nonce on the second
# and nowhere else, and outside data that is cleaned (P18), redacted (P20) and cannot close a fence.


_PLACE = re.compile(r"\{\{(\w+)\}\}")


@frozen
class Frame:
    """The random words of one prompt, each with at least 64 bits."""

    nonce: str = field(validator=min_len(8))
    fence: str = field(validator=min_len(8))

    def fenced(self, text: str) -> str:
        for word in (self.nonce, self.fence):
            text = re.sub(re.escape(word), "[…]", text, flags=re.IGNORECASE)
        return text

    def note(self, id: str, text: str) -> str:
        """Returns a note in full, in its own fence."""
        return f"<<<{self.fence} note {id}\n{self.fenced(text)}\n{self.fence}>>>"

    def filled(self, template: str, parts: Mapping[str, str]) -> str:
        """Returns the prompt: marker, nonce, and the template with its placeholders filled, but not those in the parts."""
        text = _PLACE.sub(lambda place: parts.get(place[1], place[0]), template.strip("\n"))
        return f"{PROMPT_MARKER}\nnonce: {self.nonce}\n\n{text}\n"


def plain(text: str) -> str:
    """Returns a piece of outside text, cleaned and redacted by itself so that no secret crosses its end."""
    return redact(clean_text(text)).text


def fitting(lines: Iterable[str], max_chars: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        max_chars -= len(line) + 1
        if max_chars < 0:
            break
        kept.append(line)
    return kept


_SPARE_CHARS = 1_500
"""Room for what is not counted: date lines and numbers, closing words, counts of what is not listed, the fences."""

# -- consolidate ------------------------------------------------------------------------------------------------------


_KNOWN = re.compile(r"<known>\n(.*?)</known>\n|<known>(.*?)</known>", re.DOTALL)
"""What a template says of notes that exist: dead weight where there are none."""
_HEAD_OF_A_TURN = re.compile(r"^(\s*)\[(\d+)\]", re.MULTILINE)

_SESSION_CHARS = 3_000
_TAGS_CHARS = 2_500
_SHOWN_SHARE, _CATALOG_SHARE = 3, 8
_MAX_CATALOG_TITLE_CHARS, _MAX_CATALOG_DESCRIPTION_CHARS = 120, 160


@frozen
class PromptBudget:
    """How many characters of a prompt are left in all, and at most for catalog and notes in full."""

    room_chars: int
    shown_chars: int
    catalog_chars: int

    def window_chars(self, notes_chars: int) -> int:
        """Returns the room for the transcript (by `turns.turn_chars`) beside this much of notes in full."""
        room = self.room_chars - self.catalog_chars - min(notes_chars, self.shown_chars)
        # The rest is a margin for text lengthened by redaction or composed characters.
        return room * 49 // 50

    def beside(self, window: History) -> PromptBudget:
        """Returns the room that this window leaves for the catalog and notes in full."""
        room = self.room_chars - sum(map(turn_chars, window.turns)) * 50 // 49
        catalog_chars = max(0, min(self.catalog_chars, room))
        return PromptBudget(self.room_chars, max(0, min(self.shown_chars, room - catalog_chars)), catalog_chars)


@frozen
class PromptFacts:
    frame: Frame
    request: SessionRequest
    """The window, and the notes in full, within `budget.shown_chars` by `related.note_chars`."""
    scope: str
    budget: PromptBudget
    catalog: Sequence[Listed] = ()
    """Notes of the scope and of `global`, most related first, without secret ones."""
    vocabulary: tuple[str, ...] = ()
    """Tags in use, most used first."""
    handoff_days: int = 7


@as_result
def plan_prompt_budget(template: str, max_prompt_chars: int, catalog: Sequence[Listed] = ()) -> PromptBudget:
    """Returns how to divide a prompt of at most this size, given the notes it could list: notes in full get at most a
    third, the catalog an eighth. Raises an error if the template leaves no room for a useful window."""
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
    """Returns the prompt. The same facts give the same text; all data and nothing else is in the fences."""
    frame, request = facts.frame, facts.request
    lines = fitting(map(_catalog_line, facts.catalog), facts.budget.catalog_chars)
    unlisted = len(facts.catalog) - len(lines)
    if unlisted:
        lines.append(f"({unlisted:,} more, less related, are not listed)")
    parts = {
        "fence": frame.fence,
        "session": frame.fenced(_session(facts)),
        "tags": frame.fenced(" ".join(fitting(facts.vocabulary, _TAGS_CHARS)) or "(none yet)"),
        "catalog": frame.fenced("\n".join(lines)),
        "notes": "\n\n".join(frame.note(each.meta.id, _note(each)) for each in request.shown) or "(none)",
        "transcript": frame.fenced("\n".join(turn_lines(request.window.turns))),
        "closing": _closing(facts),
    }
    return frame.filled(_KNOWN.sub(r"\1\2" if facts.catalog or request.shown else "", template), parts)


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
        ("read on", day_of(facts.request.now_ms)),
    )
    return "\n".join(f"{name}: {stored_line(value, 300)}" for name, value in lines if value)


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
        if request.final_window:
            sentences.append("If nothing is unfinished any more, list it in the `supersedes` of a note of this reply.")
    return " ".join(sentences)


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
        f"about: {meta.kind.value}, {meta.scope}, from {day_of(meta.created_at_ms)}, origin {meta.origin.value},"
        f" importance {meta.importance.value}{confidence}{', pinned: it cannot be changed' if meta.pinned else ''}\n"
        f"title: {one_line(meta.title, 1_000)}\ndescription: {one_line(meta.description, 1_000)}\n"
        f"tags: {' '.join(meta.tags)}\nbody:\n{stored.body}"
    )


def turn_lines(turns: Iterable[Turn]) -> Iterator[str]:
    """Yields a transcript as a model is shown it."""
    day = ""
    for turn in turns:
        if turn.at_ms is not None and day_of(turn.at_ms) != day:
            day = day_of(turn.at_ms)
            yield f"-- {day} --"
        # Text cannot imitate a turn: `[12]` at the start of its lines becomes `(12)`.
        said = marked_review(turn.text) if turn.role is Role.USER else turn.text
        text = _HEAD_OF_A_TURN.sub(r"\1(\2)", plain(said).strip("\n"))
        speaker = turn.role.value
        if turn.role is Role.TOOL:
            name = one_line(turn.tool_name or "", 16)
            speaker = f"tool{f' {name}' if name else ''}{' (failed)' if turn.failed else ''}"
        yield f"[{turn.number}] {speaker}: {text}{' […]' if turn.clipped_chars else ''}"
        yield from map(_call, turn.tool_calls)


def _call(call: ToolCall) -> str:
    path = f" {call.path}" if call.path and call.path not in call.brief else ""
    line = f"{call.name}{' (writes)' if call.writes else ''}{path}{f': {call.brief}' if call.brief else ''}"
    return f"  -> {plain(one_line(line, len(line) + 1))}"


# -- defrag -----------------------------------------------------------------------------------------------------------


_LEAST_ROOM_CHARS = 16_000
"""Room for the longest allowed body with a catalog."""
_AGAIN = re.compile(r"<again>\n(.*?)</again>\n", re.DOTALL)
"""What a template says when some of an answer was refused."""
_REFUSED_CHARS = 3_000
_FINDINGS_SHARE = 12
_MAX_FINDINGS_CHARS = 20_000
_CATALOG_PERCENT = 35
_TIER_ID_CHARS, _TIER_WORDS_CHARS = 12, 80
_MOST_FOR_TIERS = 5
"""The share of the rest for the tier list: enough to name all that such a catalog can list."""
_MAX_LINE_CHARS = 1_000
_MAX_TITLE_CHARS = 140
_MAX_DESCRIPTION_CHARS = 160
_MAX_TAGS = 6


@frozen
class DefragBudget:
    """The limits in characters of a prompt and its parts; the catalog gets the rest."""

    prompt_chars: int
    shown_chars: int
    """The limit for notes in full, by `related.note_chars`."""
    findings_chars: int


@as_result
def plan_defrag_budget(template: str, max_prompt_chars: int, catalog: Sequence[Listed]) -> DefragBudget:
    """Returns how to divide a prompt of at most this size, given the notes it could list and show.

    The catalog gets what it needs, at most about a third; findings a twelfth; notes in full the rest. Raises an error
    if the template leaves no room for a note of the longest size.
    """
    fixed = len(template) + _SPARE_CHARS + _REFUSED_CHARS
    room = max_prompt_chars - fixed
    if room < _LEAST_ROOM_CHARS:
        needed = f"and defrag needs at least {fixed + _LEAST_ROOM_CHARS:,}"
        raise ConfigInvalid("in effect", (f"llm.maxPromptChars is {max_prompt_chars:,}, {needed}",))
    findings_chars = min(room // _FINDINGS_SHARE, _MAX_FINDINGS_CHARS)
    catalog_chars = min(sum(map(_estimated_chars, catalog)), room * _CATALOG_PERCENT // 100)
    # The rest is a margin for text lengthened by composed characters.
    shown_chars = (room - findings_chars - catalog_chars) * 49 // 50
    return DefragBudget(max_prompt_chars, shown_chars, findings_chars)


def render_defrag_prompt(
    template: str,
    request: DefragRequest,
    frame: Frame,
    budget: DefragBudget,
    max_changes: int,
    refused: Iterable[str] = (),
) -> tuple[str, frozenset[str]]:
    """Returns the prompt, at most `budget.prompt_chars` long, and the ids in its catalog: the agent cannot have meant
    to move any other note to another tier (`TierList.where_unseen`). What the request shows in full is within
    `budget.shown_chars`; the run may change or archive `max_changes` live notes. `refused` says why actions of a first answer
    will not be carried out.

    The same request gives the same text; all data and nothing else is in the fences. Secret notes are not mentioned.
    """
    live = tuple(each for each in request.live if not each.meta.is_secret)
    # What is or holds a secret would not be shown whole.
    shown = tuple(each for each in request.shown if not (each.meta.is_secret or has_secret(each.entry.whole)))
    request, tiers = evolve(request, live=live, shown=shown), request.tiers
    parts = {
        "fence": frame.fence,
        "today": day_of(request.now_ms),
        "live": f"{len(live):,}",
        "max_changes": f"{max_changes:,}",
        "hot_chars": f"{request.budget.hot_chars:,}",
        "warm_lines": f"{request.budget.warm_lines:,}",
        "findings": frame.fenced(_findings(request, budget.findings_chars)),
        "notes": "\n\n".join(frame.note(each.meta.id, _whole_note(each)) for each in shown) or "(none)",
        "closing": "Not every note is shown in full: merge, split, edit and archive only those that are."
        if len(shown) < len(live)
        else "Every note is shown in full.",
        "catalog": "",
        "tiers": "",
        "refused": frame.fenced("\n".join(fitting((stored_line(each, 1_000) for each in refused), _REFUSED_CHARS))),
    }
    template = _AGAIN.sub(r"\1" if parts["refused"] else "", template)
    room = budget.prompt_chars - len(frame.filled(template, parts))
    for_tiers = _TIER_WORDS_CHARS + (len(tiers.hot) + len(tiers.warm)) * _TIER_ID_CHARS
    catalog, listed = _grouped_catalog(request, room - min(for_tiers, max(room, 0) // _MOST_FOR_TIERS))
    rows = (("hot", tiers.hot), ("warm", tiers.warm))
    told = "\n".join(f"{name}: {', '.join(id for id in ids if id in listed) or '(none)'}" for name, ids in rows)
    parts |= {"catalog": frame.fenced(catalog), "tiers": frame.fenced(told)}
    return frame.filled(template, parts), listed


def _grouped_catalog(request: DefragRequest, max_chars: int) -> tuple[str, frozenset[str]]:
    """Returns a line for each of the first notes that fit, grouped by scope, with a count of the others; and the listed
    ids. Descriptions are for notes that are in a tier, pinned or shown, and others while there is room."""
    entries, foremost = _most_important_first(request)
    shown = frozenset(each.meta.id for each in request.shown)  # their lines need no description
    foremost -= shown
    room = max_chars - len(_unlisted(len(entries)))
    lines: dict[str, str] = {}
    headings: dict[str, str] = {}
    for each in entries:
        id, scope = each.meta.id, each.meta.scope
        line = _line(each, request, described=id in foremost)
        heading = headings.get(scope) or f"scope {stored_line(scope, 300)}:"
        size = len(line) + 1 + (0 if scope in headings else len(heading) + 2)
        if size > room:
            break
        lines[id], headings[scope] = line, heading
        room -= size
    listed = entries[: len(lines)]
    for each in listed:
        line = _line(each, request, described=each.meta.id not in shown)
        room -= len(line) - len(lines[each.meta.id])
        if room < 0:
            break
        lines[each.meta.id] = line
    groups = [
        "\n".join((headings[scope], *(lines[id] for id in _ordered(listed, scope, request.tiers))))
        for scope in sorted(headings, key=lambda scope: (scope != GLOBAL_SCOPE, scope))
    ]
    left = len(entries) - len(listed)
    return "\n\n".join((*groups, *([_unlisted(left)] if left else []))) or "(none)", frozenset(lines)


def _most_important_first(request: DefragRequest) -> tuple[list[Listed], frozenset[str]]:
    """Returns the notes in the order in which they get room, and which of them come first because of what they are."""
    pinned = (each.meta.id for each in request.live if each.meta.pinned)
    shown = (each.meta.id for each in request.shown)
    first = dict.fromkeys((*request.tiers.hot, *request.tiers.warm, *pinned, *shown))
    ranks = {id: rank for rank, id in enumerate(first)}

    def order(listed: Listed) -> tuple[int, int, str]:
        # By last write or read: what might deserve another tier is likely to be new or in use.
        usage = request.usage.get(listed.meta.id)
        touched_at_ms = max(listed.meta.updated_at_ms, (usage.last_at_ms or 0) if usage else 0)
        return ranks.get(listed.meta.id, len(ranks)), -touched_at_ms, listed.meta.id

    return sorted(request.live, key=order), frozenset(first)


def _unlisted(count: int) -> str:
    return f"({count:,} more are not listed; they stay as they are, and so does their tier)"


def _ordered(listed: Iterable[Listed], scope: str, tiers: TierList) -> list[str]:
    """Returns the ids of a scope, nearest first, with notes of the same first tag side by side."""

    def key(meta: Meta) -> tuple[int, str, str, str]:
        nearness = list(Tier).index(tiers.of(meta.id))
        return nearness, meta.tags[0] if meta.tags else "", meta.title.casefold(), meta.id

    return [meta.id for meta in sorted((each.meta for each in listed if each.meta.scope == scope), key=key)]


def _line(listed: Listed, request: DefragRequest, *, described: bool) -> str:
    meta, usage = listed.meta, request.usage.get(listed.meta.id)
    last = f", last {day_of(usage.last_at_ms)}" if usage and usage.last_at_ms is not None else ""
    chars = request.analysis.body_chars.get(meta.id)
    nearest = Tier.COLD if chars is None else best_now(meta, request.now_ms)
    parts = (
        meta.id,
        meta.kind.value,
        f"{request.tiers.of(meta.id)}/{nearest}",
        meta.origin.value,
        "" if chars is None else f"{chars:,} chars",
        f"read {usage.count:,}x{last}" if usage and usage.count else "never read",
        f"updated {day_of(meta.updated_at_ms)}",
        *_marks(listed),
        stored_line(" ".join(meta.tags[:_MAX_TAGS])),
        stored_line(meta.title, _MAX_TITLE_CHARS),
        stored_line(meta.description, _MAX_DESCRIPTION_CHARS) if described else "",
    )
    return " | ".join(part for part in parts if part)


def _estimated_chars(listed: Listed) -> int:
    meta = listed.meta
    tags = sum(len(tag) + 1 for tag in meta.tags[:_MAX_TAGS])
    title, description = min(len(meta.title), _MAX_TITLE_CHARS), min(len(meta.description), _MAX_DESCRIPTION_CHARS)
    # A catalog line has 110 characters of facts: id, kind, tiers, origin, size, reads, dates, marks, and separators.
    return 110 + tags + title + description


def _marks(listed: Listed) -> Iterator[str]:
    meta = listed.meta
    if meta.importance in (Importance.HIGH, Importance.CRITICAL):
        yield meta.importance.value
    if meta.promoted_by is not None:
        yield "promoted"
    if meta.sensitivity is Sensitivity.PRIVATE:
        yield "private"
    if meta.expires_at_ms is not None:
        yield f"expires {day_of(meta.expires_at_ms)}"
    if meta.valid_until_ms is not None:
        yield f"valid until {day_of(meta.valid_until_ms)}"
    yield from _locks(listed)


def _locks(listed: Listed) -> Iterator[str]:
    """Yields a word for each reason to leave a note as it is."""
    if listed.meta.pinned:
        yield "PINNED"
    if listed.conflicted:
        yield "CONFLICTED"
    if listed.provisional_id:
        yield "UNFINISHED"


def _findings(request: DefragRequest, max_chars: int) -> str:
    """Returns a line for each finding about notes shown in full, first those whose notes are all shown, and a count."""
    shown = frozenset(each.meta.id for each in request.shown)
    catalog = frozenset(each.meta.id for each in request.live)
    known = [each for each in request.analysis.findings if catalog.issuperset(each.ids)]
    near = [each for each in known if not shown.isdisjoint(each.ids)]
    near.sort(key=lambda finding: not shown.issuperset(finding.ids))
    told = (f"- {each.kind.value}: {first_few(each.ids, 12)}: {stored_line(each.reason, 400)}" for each in near)
    lines = fitting(told, max_chars)
    left = len(known) - len(lines)
    if left:
        lines.append(f"({left:,} more, about notes that are not shown in full or less pressing, wait for another run)")
    return "\n".join(lines) or "(nothing)"


def _whole_note(stored: StoredEntry) -> str:
    meta, lines = stored.meta, [f"about: {', '.join(_about(stored))}"]
    lines.append(f"title: {stored_line(meta.title, _MAX_LINE_CHARS)}")
    if meta.description and meta.description != derive_description(stored.body):
        lines.append(f"description: {stored_line(meta.description, _MAX_LINE_CHARS)}")
    lines += [f"tags: {stored_line(' '.join(meta.tags), _MAX_LINE_CHARS)}", f"body:\n{plain(stored.body)}"]
    return "\n".join(lines)


def _about(stored: StoredEntry) -> Iterator[str]:
    meta = stored.meta
    yield meta.kind.value
    yield stored_line(meta.scope, _MAX_LINE_CHARS)
    yield f"origin {meta.origin.value}"
    yield f"from {day_of(meta.created_at_ms)}"
    if day_of(meta.updated_at_ms) != day_of(meta.created_at_ms):
        yield f"updated {day_of(meta.updated_at_ms)}"
    if meta.valid_until_ms is not None:
        yield f"valid until {day_of(meta.valid_until_ms)}"
    turns = sum(len(source.turns) for source in meta.sources)
    if turns:
        yield f"cites {turns:,} turns of {len(meta.sources):,} sessions"
    yield from _locks(stored.listed)
