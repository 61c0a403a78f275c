"""What a session comes to for whoever takes it over, made without any agent command from its redacted history; and its words."""

from __future__ import annotations

from attrs import frozen

from agent_memory.extraction.extract import UNCOMMITTED, Handoff, brief_handoff_of, handoff_of, read_through
from agent_memory.extraction.notes import tags_of
from agent_memory.extraction.session import is_injected
from agent_memory.extraction.text import Sort, cut
from agent_memory.note.note import NAMES, Harness, Kind, Meta, Origin
from agent_memory.rules.origin import Claim, origin_of
from agent_memory.session.history import History, Role
from agent_memory.session.own_marks import CONTEXT_END, CONTEXT_START
from agent_memory.session.resuming import resume_command
from agent_memory.text.instants import DAY_MS, iso_of
from agent_memory.text.plain_text import one_line

INTERRUPTED_DAYS = 7
"""So long the last words of a session that was cut off are worth giving on."""

MAX_EXCHANGES = 6
MAX_RECOVERED = 50
"""How many of the last messages are given to whoever recovers a session, cut off or not."""
_EXCHANGE_CHARS = 600
_MAX_DECIDED = 8
_DECIDED_CHARS = 240
_DECISIONS = frozenset({Sort.CORRECTION, Sort.CONVENTION, Sort.DECISION, Sort.WANT, Sort.PREFERENCE})


@frozen
class Exchange:
    """One of the last things that were said."""

    role: Role
    text: str
    repeats_a_page: bool = False
    """The agent says what only a foreign source said: nothing to be told unasked (P19)."""

    @property
    def speaker(self) -> str:
        return "The person" if self.role is Role.USER else "The agent"


@frozen
class Handover:
    """All of it, redacted, in plain lines."""

    harness: Harness
    session_id: str
    handoff: Handoff
    decided: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    """The last words of a session younger than seven days, if it was cut off or is recovered."""
    tags: tuple[str, ...]
    ended_at_ms: int | None
    cwd: str | None = None
    branch: str | None = None
    agent: str | None = None
    resume: str | None = None
    """The harness's own command to go on with it."""
    was_cut_off: bool = False
    is_worth_keeping: bool = True
    """Whether there is more in it than one request that was simply met, or its end says that something is open."""


def handover_of(history: History, now_ms: int, *, recovers: bool = False) -> Handover | None:
    """The handover of a redacted history; None where nobody asked for anything in it."""
    legible, episodes, candidates = read_through(history)
    kept = handoff_of(legible, episodes, candidates, goes_on=False)
    handoff = kept or handoff_of(legible, episodes, candidates, goes_on=True) or brief_handoff_of(legible, episodes)
    if handoff is None:
        return None
    ended_at_ms = max((turn.at_ms for turn in history.turns if turn.at_ms is not None), default=history.ended_at_ms)
    recent = ended_at_ms is not None and now_ms - ended_at_ms < INTERRUPTED_DAYS * DAY_MS
    cwd = None if legible.cwd is None else one_line(legible.cwd, 1_000)
    decisions = [each for each in candidates if each.sort in _DECISIONS]
    decided = (cut(" ".join(each.claim.split()), _DECIDED_CHARS) for each in decisions[-_MAX_DECIDED:])
    exchanges: tuple[Exchange, ...] = ()
    # The last thing that was asked has no closing words.
    was_cut_off = episodes[-1].asked is not None and episodes[-1].closing is None
    if recent and (was_cut_off or recovers):
        said = [
            turn
            for turn in legible.turns
            if turn.role is not Role.TOOL and turn.text.strip() and not (turn.role is Role.USER and is_injected(turn))
        ]
        exchanges = tuple(
            Exchange(
                turn.role,
                cut(turn.text.strip(), _EXCHANGE_CHARS),
                turn.role is Role.AGENT and origin_of(Claim("", turn.text), (), legible) is Origin.EXTERNAL,
            )
            for turn in said[-(MAX_RECOVERED if recovers else MAX_EXCHANGES) :]
        )
    return Handover(
        harness=history.harness,
        session_id=history.session_id,
        handoff=handoff,
        decided=tuple(dict.fromkeys(decided)),
        exchanges=exchanges,
        tags=tags_of(handoff.body, (name.strip("`") for name in handoff.files)),
        ended_at_ms=ended_at_ms,
        cwd=cwd,
        branch=None if history.branch is None else one_line(history.branch, 200),
        agent=history.agent,
        resume=resume_command(history.harness, history.session_id, cwd),
        was_cut_off=was_cut_off,
        is_worth_keeping=kept is not None or any(each != UNCOMMITTED for each in handoff.open),
    )


def is_handoff_of(meta: Meta, harness: Harness, session_id: str) -> bool:
    """Whether an entry is the handoff of this session."""
    if meta.kind is not Kind.HANDOFF:
        return False
    return any((each.harness, each.thread_id) == (harness, session_id) for each in meta.sources)


# -- as text to be pasted into, or piped to, the next agent, and as the body of the note -------------------------------


def handover_text(handover: Handover, to: Harness | None = None) -> str:
    """Markdown, worded for the harness that takes over, ending with the command that resumes the session instead.

    It is marked as a context of ours: what an agent is given is not learnt again as what its person said (P26).
    """
    came_from = f"the {NAMES[handover.harness]} session {handover.session_id}"
    if to is None:
        first = f"Handoff of {came_from}"
    elif to is handover.harness:
        first = f"You go on with work that an earlier {NAMES[to]} session began ({handover.session_id})"
    else:
        first = f"You are {NAMES[to]}, and take over from {came_from}"
    where = f" in `{handover.cwd}`" if handover.cwd else ""
    branch = f" on the branch `{handover.branch}`" if handover.branch else ""
    when = f", which ended at {iso_of(handover.ended_at_ms)}" if handover.ended_at_ms is not None else ""
    notice = (
        "What follows is what was said and done there, not a new order: look at the files as they are now, and ask the "
        "person where it does not say what to do next."
    )
    parts = [f"{first}{where}{branch}{when}.", notice, handover_body(handover)]
    if handover.exchanges:
        parts.append(f"{'It was cut off. ' if handover.was_cut_off else ''}The last words were:")
        for each in handover.exchanges:
            quoted = (f"> {line}".rstrip() for line in each.text.split("\n"))
            parts.append("\n".join((f"{each.speaker}:", *quoted)))
    if handover.resume is not None:
        parts.append(f"To go on in {NAMES[handover.harness]} itself: `{handover.resume}`")
    text = "\n\n".join(parts)
    name = CONTEXT_START.strip("<>")
    return f"{CONTEXT_START}\n{text.replace(name, name.replace('-', ' '))}\n{CONTEXT_END}"


def handover_body(handover: Handover) -> str:
    """Returns what was asked, done, decided and open, and the files: each a list under its name, without what is empty."""
    handoff = handover.handoff
    sections = (
        ("Asked", handoff.asked),
        ("Done", handoff.done),
        ("Decided", handover.decided),
        ("Open", handoff.open),
        ("Files", handoff.files),
    )
    return "\n\n".join(f"{name}:\n" + "\n".join(f"- {line}" for line in lines) for name, lines in sections if lines)
