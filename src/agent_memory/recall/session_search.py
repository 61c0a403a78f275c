"""`memory search --sessions`: what was said in the sessions whose histories are kept, by the terms and weights of notes."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from agent_memory.errors import Error
from agent_memory.note.terms import query_words
from agent_memory.recall.hits import Matches, SearchRequest, snippet_of
from agent_memory.recall.note_index import SAID, matched_words
from agent_memory.recall.ranking import for_period, for_place, periods_in, strength_of
from agent_memory.results import as_result, unwrap
from agent_memory.session.history import Role, Turn
from agent_memory.session.own_marks import machine_text, marked_review
from agent_memory.session.resuming import resume_command
from agent_memory.session.turns import USER_TEXT_CHARS
from agent_memory.store.kept_histories_files import in_calendar, words_of
from agent_memory.store.session_index import PLACE_BITS, SessionIndex, indexed_parts
from agent_memory.text.plain_text import clean_text, cut_chars

_BESIDE_CHARS = 2_000
"""How much is shown of the turns before and after."""
_SPEAKERS = {Role.USER: "the person", Role.AGENT: "the agent", Role.TOOL: "a tool"}


@frozen
class SaidTurn:
    number: int
    said_by: str
    """`the person`, `the agent`, `a tool`, or `the harness` in the person's place."""
    at_ms: int | None
    text: str


@frozen
class SaidHit:
    """A turn that was found, between its neighbours; `score` and `snippet` as those of a note."""

    harness: str
    session_id: str
    scope: str
    cwd: str | None
    branch: str | None
    score: float
    snippet: str
    marks: tuple[tuple[int, int], ...]
    turn: SaidTurn
    before: SaidTurn | None
    after: SaidTurn | None
    reopen: str | None
    """The command that resumes the session."""


@frozen
class SaidAnswer:
    """The best turn of each session, or all turns of the session that was asked for, best first."""

    query: str
    matched: int
    """How many sessions, or turns of the one, matched, before `limit`."""
    notices: tuple[str, ...]
    hits: tuple[SaidHit, ...]


@as_result
def search_said(
    request: SearchRequest,
    index: SessionIndex,
    scope_of: Callable[[tuple[str, ...]], str | None],
    now_ms: int,
    progress: Callable[[str], object] = str,
) -> SaidAnswer:
    """Returns the best turns for a query. `scope_of` returns the scope of a session by its directories, None for one that the
    caller may not see. Of the filters, those by scope, session, agent (the harness), score and time (when the session ended)
    count."""
    notices, words = list(unwrap(index.refresh(progress))), query_words(request.query)
    parts, matched = index.database.read_current(
        lambda connection: (indexed_parts(connection), matched_words(connection, words, SAID)), index.refresh
    )
    periods = periods_in(request.query, now_ms)
    scopes, added = dict[int, str](), dict[int, float]()
    for number, part in parts.items():
        scope = scope_of(part.places)
        if (
            scope is not None
            and request.scope in (None, scope)
            and request.session in (None, part.session_id)
            and request.agent in (None, part.harness)
            and (request.since_ms is None or part.ended_at_ms >= request.since_ms)
        ):
            scopes[number] = scope
            added[number] = for_place(scope, request.here) + for_period(periods, part.ended_at_ms)
    totals: dict[int, float] = {}
    for word in matched:
        for number, score in word.scores.items():
            if number >> PLACE_BITS in scopes:
                totals[number] = totals.get(number, 0.0) + score
    best = max(totals.values(), default=1.0)

    def session_of(number: int) -> object:
        part = parts[number >> PLACE_BITS]
        return number if request.session is not None else (part.harness, part.session_id)

    hits, taken = list[SaidHit](), set[object]()
    for number in sorted(totals, key=lambda each: (-totals[each] / best - added[each >> PLACE_BITS], -each)):
        if len(hits) == request.limit:
            break
        if session_of(number) in taken:
            continue
        taken.add(session_of(number))
        part, place = parts[number >> PLACE_BITS], number & ((1 << PLACE_BITS) - 1)
        said = Matches(matched).parts(number)
        score = strength_of(words, matched, said)
        try:
            kept = index.open_kept().part(part.name) if score >= (request.min_score or 0.0) else None
        except Error as error:
            notices.append(str(error))
            continue
        if kept is None or place >= len(kept.turns):
            continue
        worth = {word.term: word.idf for word in matched}
        turn = _said(kept.turns[place], USER_TEXT_CHARS)
        snippet = snippet_of((turn.text,), worth | {each.found: worth[each.term] for each in said})
        before, after = (
            _said(near[0], _BESIDE_CHARS) if near else None
            for near in (kept.turns[max(place - 1, 0) : place], kept.turns[place + 1 : place + 2])
        )
        cwd = next(iter(part.places), None)
        reopen = resume_command(part.harness, part.session_id, cwd)
        about = part.harness, part.session_id, scopes[part.number], cwd, part.branch, round(score, 4)
        hits.append(SaidHit(*about, snippet.text, snippet.marks, turn, before, after, reopen))
    return SaidAnswer(request.query, len({session_of(each) for each in totals}), tuple(notices), tuple(hits))


def _said(turn: Turn, max_chars: int) -> SaidTurn:
    by = "the harness" if turn.role is Role.USER and machine_text(turn.text) is not None else _SPEAKERS[turn.role]
    text = marked_review(turn.text) if turn.role is Role.USER else words_of(turn)
    return SaidTurn(turn.number, by, in_calendar(turn.at_ms), cut_chars(clean_text(text), max_chars))
