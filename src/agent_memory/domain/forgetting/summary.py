"""A forgetting in words."""

from __future__ import annotations

from collections.abc import Iterator

from agent_memory.domain.forgetting.forgetting import Forgetting
from agent_memory.domain.text.plain_text import one_line

_MOST_LISTED = 20
_LINE_CHARS = 160


def lines_of(forgetting: Forgetting) -> Iterator[str]:
    """What goes, what changes, and what stays although it states the same: for a person, one thing a line."""
    if forgetting.target.session is not None and not forgetting.is_known:
        yield "  nothing  is kept of this session; it is only marked, so that it is never learnt"
    for note in forgetting.notes:
        title = "(secret)" if note.secret else _short(note.title)
        files = f"{len(note.paths)} {'file' if len(note.paths) == 1 else 'files'}"
        what = f"{files} of its earlier versions; the note stays" if note.stays else files
        yield f"  forget   {note.id}  {title}  ({what})"
    for shared in forgetting.shared:
        yield f"  keep     {shared.id}  {_short(shared.title)}  (also from {_short(', '.join(shared.others))}; it forgets this session)"
    yield from _listed("unlink", "it linked to what goes", forgetting.linked)
    yield from _listed("remove", "", forgetting.inbox)
    yield from _listed("remove", "", forgetting.marks)
    yield from _listed("remove", "the kept history", tuple(f"{harness} {id}" for harness, id in forgetting.histories))
    yield from _listed(
        "empty",
        "what it did to these notes cannot be shown or undone any more",
        tuple(f"runs/{run}" for run in forgetting.runs),
    )
    for mention in forgetting.mentions:
        where = "in the archive, " if mention.archived else ""
        yield f"  stays    {mention.id}  {_short(mention.title)}  ({where}it states {mention.percent} % of it: `memory forget {mention.id}`)"


def what_stays(forgetting: Forgetting) -> tuple[str, ...]:
    """What forgetting does not reach, as sentences."""
    sentences: list[str] = []
    if forgetting.has_history and not forgetting.target.purge:
        others, them = (", and so may kept histories", "them") if forgetting.target.session is None else ("", "it")
        sentences.append(f"The git history of the store still holds it{others}; `--purge` rewrites {them}.")
    if forgetting.target.purge and forgetting.has_history:
        sentences.append(
            "The git history is rewritten: every other clone still holds it, and `memory sync` waits for --after-purge."
        )
    session = forgetting.target.session
    if session is not None:
        sentences.append("The harness's own transcript is not memory's to remove.")
    return tuple(sentences)


def sentence_of(forgetting: Forgetting, *, done: bool) -> str:
    """`Forgotten: 3 notes and 2 inbox files of the session s1, for good.`"""
    gone = len(forgetting.ids)
    session = forgetting.target.session
    what = [f"{gone} {'note' if gone == 1 else 'notes'}"]
    if forgetting.inbox:
        what.append(f"{len(forgetting.inbox)} inbox {'file' if len(forgetting.inbox) == 1 else 'files'}")
    of = "" if session is None else f" of the session {session.session_id}"
    if not done:
        return f"This would forget {' and '.join(what)}{of}, for good."
    learnt = "" if session is None else " It is not learnt again."
    return f"Forgotten: {' and '.join(what)}{of}, for good.{learnt}"


def _listed(act: str, why: str, things: tuple[str, ...]) -> Iterator[str]:
    reason = f"  ({why})" if why else ""
    for thing in things[:_MOST_LISTED]:
        yield f"  {act:8} {_short(thing)}{reason}"
    if len(things) > _MOST_LISTED:
        yield f"  {act:8} and {len(things) - _MOST_LISTED} more"


def _short(text: str) -> str:
    return one_line(text, _LINE_CHARS)
