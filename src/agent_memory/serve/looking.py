"""What the page shows: each view takes its values from the function that the command of the same subject takes them from."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from math import ceil
from typing import Any

from attrs import evolve
from returns.result import Success

from agent_memory.acts.review import ReviewKind
from agent_memory.app import Memory, open_memory
from agent_memory.capture.hook import HookProblem
from agent_memory.capture.places import known_places
from agent_memory.capture.session_event import SessionEvent
from agent_memory.care.statistics import LARGEST_DAYS
from agent_memory.care.why_note import note_versions
from agent_memory.documents import (
    diff_document,
    entry_document,
    fields_of,
    health_document,
    injection_document,
    json_of,
    pause_document,
    review_document,
    run_document,
    search_document,
    statistics_document,
    undone_document,
    use_document,
)
from agent_memory.errors import EntryProtected, Error, RunNotFound, UndoRefused, UsageInvalid
from agent_memory.hook_injection import HookInjection, Offer
from agent_memory.inject import place_of, told_where
from agent_memory.note.note import (
    Harness,
    Kind,
    Listed,
    Origin,
    StoredEntry,
    Tier,
    UnreadableFile,
    Usage,
    reads_of,
    without_secret,
)
from agent_memory.pipelines.undo import chosen_run
from agent_memory.ports import Notes
from agent_memory.recall.candidates import barrier
from agent_memory.recall.delivery_log import DeliveryLog
from agent_memory.recall.hits import MAX_HITS, SearchHit, SearchRequest
from agent_memory.recall.linking import LinkSheet, link_sheet
from agent_memory.recall.moment import ASKED, MAX_PROMPT_CHARS, START, Moment
from agent_memory.recall.reading import ListFilter, ShownEntry, read_anywhere
from agent_memory.results import unwrap
from agent_memory.rules.run_log import KEEP_RUNS
from agent_memory.serve.application import Asked, Shown
from agent_memory.setup.harnesses import is_told
from agent_memory.store.diffs import DiffPart
from agent_memory.text.plain_text import cut_chars, one_line

A_PAGE = 50


def _part(asked: Asked, count: int) -> tuple[slice, dict[str, Any]]:
    """Returns which rows of so many to show, and what a template needs to lead to the others."""
    number = min(asked.number("page", 1, 1_000_000), max(1, ceil(count / A_PAGE)))
    others = {key: values[-1] for key, values in asked.fields.items() if key not in ("page", "said") and values[-1]}
    part = slice((number - 1) * A_PAGE, number * A_PAGE)
    return part, {"page": number, "pages": max(1, ceil(count / A_PAGE)), "count": count, "others": others}


# -- what waits for a decision ----------------------------------------------------------------------------------------


def inbox(asked: Asked) -> Shown:
    """Returns what waits for a person's decision, with the text of the notes that it is about."""
    kind, is_new = asked.word("kind", ReviewKind), asked.text("since") == "last"
    everything = unwrap(asked.acting.reviewing.items("last" if is_new else None))
    items = [each for each in everything if kind in (None, each.kind)]
    part, pages = _part(asked, len(items))
    shown = [(each, [text_of(asked.acting, note) for note in each.notes]) for each in items[part]]
    document = {**review_document(items[part], asked.acting.reading.tier_of), "matching": pages["count"]}
    for item, (each, bodies) in zip(document["items"], shown, strict=True):
        for row, note, body in zip(item["notes"], each.notes, bodies, strict=True):
            row |= {"body": body, "contentHash": note.content_hash}
    counts = Counter(each.kind for each in everything)
    context = {"items": shown, "counts": counts, "all": len(everything), "kind": kind, "is_new": is_new, "pages": pages}
    return Shown("inbox.html", document, {**context, "kinds": Kind})


def text_of(memory: Memory, listed: Listed) -> str:
    """Returns the text of a note; a sentence where it cannot be read."""
    return (
        memory.store.read_again(listed).map(lambda stored: stored.body).lash(lambda error: Success(str(error))).unwrap()
    )


# -- notes ------------------------------------------------------------------------------------------------------------


def notes(asked: Asked) -> Shown:
    """Returns the notes that a filter lets through, or that a query finds, the best or the newest first."""
    memory, query = asked.looking, asked.text("q")
    wanted = ListFilter(
        kind=asked.word("kind", Kind),
        tag=asked.text("tag"),
        scope=asked.text("scope"),
        origin=asked.word("origin", Origin),
        tier=asked.word("tier", Tier),
        agent=asked.word("harness", Harness),
    )
    archived = asked.text("archived") is not None
    rows: list[tuple[ShownEntry, SearchHit | None]]
    unreadable: tuple[UnreadableFile, ...] = ()
    if query is None:
        listing = unwrap(memory.reading.list(wanted, archived=archived))
        rows, unreadable = [(each, None) for each in listing.entries], listing.unreadable
        part, pages = _part(asked, len(rows))
        entries = [entry_document(each.listed, each.usage, tier=each.tier) for each, _ in rows[part]]
        document: dict[str, Any] = {"entries": entries, "unreadable": json_of(unreadable)}
    else:
        # Of tier and origin a search knows nothing: of all that it finds, some are chosen.
        limit = 4 * A_PAGE if wanted.tier is None and wanted.origin is None else MAX_HITS
        tags = () if wanted.tag is None else (wanted.tag,)
        request = SearchRequest(query, limit, kind=wanted.kind, tags=tags, scope=wanted.scope, agent=wanted.agent)
        answer = unwrap(memory.search(evolve(request, archived=archived, here=memory.scope_on_arrival())))
        totals = memory.ledger.totals().value_or(dict[str, Usage]())
        hits = [each for each in answer.hits if wanted.accepts(each.listed.meta, each.tier)]
        part, pages = _part(asked, len(hits))
        hits = hits[part]
        rows = [(ShownEntry(each.listed, reads_of(each.listed.meta, totals), each.tier), each) for each in hits]
        document = search_document(query, evolve(answer, hits=tuple(hits)), totals)
        asked.said.extend(answer.notices)
        part = slice(None)
    everything = memory.reading.seen(unwrap(memory.store.list(archived=archived)).entries)
    scopes = [scope for scope, _ in Counter(each.meta.scope for each in everything).most_common()]
    if wanted.scope is not None and wanted.scope not in scopes:
        scopes.append(wanted.scope)
    context = {
        "rows": rows[part],
        "query": query or "",
        "wanted": wanted,
        "archived": archived,
        "scopes": scopes,
        "unreadable": unreadable,
        "kinds": Kind,
        "origins": Origin,
        "tiers": Tier,
        "harnesses": Harness,
        "pages": pages,
        "here_scope": memory.scope_on_arrival(),
        "branch_mark": memory.branch_mark,
    }
    return Shown("notes.html", {**document, "matching": pages["count"]}, context)


def read_shown(notes: Notes, id: str) -> StoredEntry:
    """Returns a note that may be shown, live or archived, by id or alias. Counts no read: somebody looks at it, and does not
    use it."""
    stored = read_anywhere(notes, id)
    if stored.meta.is_secret:
        raise EntryProtected(id, f"showing it on a page (`memory read --secret {id}` prints it)", "secret")
    return stored


def note(asked: Asked) -> Shown:
    memory, id = asked.looking, asked.path["id"]
    here = memory.reading_here
    stored = read_shown(here.store, id)
    told = partial(told_where, memory, here.store)
    if stored.meta.withheld:  # a person looks at it to approve it; its relations, which may be secret, are left out
        why = unwrap(asked.acting.why_entry(id, evolve(here, caller=asked.acting.caller), told, with_commits=False))
        why = evolve(why, merged=(), supersedes=(), superseded_by=())
        links = LinkSheet(stored.meta.id, stored.meta.title, stored.listed.archived, (), (), (), (), ())
    else:
        why = unwrap(memory.why_entry(id, here, told, with_commits=False))
        links = link_sheet(here, id)
    versions = unwrap(note_versions(memory.real_root, stored))
    logged = DeliveryLog(memory.real_root).deliveries(stored.meta.id)
    delivered = [each for each in logged if stored.meta.id in each.ids]
    deliveries, names = delivered[::-1][:50], ("harness", "session", "event", "scope")
    document = {
        "note": entry_document(stored.listed, why.usage, stored.body, tier=why.tier.tier),
        "contentHash": stored.listed.content_hash,
        "why": {key: value for key, value in fields_of(why).items() if key != "commits"},
        "links": fields_of(links),
        "versions": json_of(versions),
        "deliveries": [
            {"at": json_of(each.at_ms), **{name: getattr(each, name) for name in names}} for each in deliveries
        ],
    }
    asked.said.extend(why.unread)
    context = {"note": stored, "why": why, "links": links, "versions": versions, "deliveries": deliveries}
    return Shown("note.html", document, {**context, "delivered": len(delivered), "kinds": Kind})


# -- runs -------------------------------------------------------------------------------------------------------------


def runs(asked: Asked) -> Shown:
    found = asked.acting.shown_runs(unwrap(asked.looking.log.runs(KEEP_RUNS)))
    part, pages = _part(asked, len(found))
    return Shown("runs.html", {"runs": list(map(run_document, found[part]))}, {"runs": found[part], "pages": pages})


def run(asked: Asked) -> Shown:
    """Returns what a run did and changed; where no diff of it is kept, why not."""
    memory, name = asked.acting, asked.path["run"]
    (logged,) = memory.shown_runs((chosen_run(memory.log, name),))
    parts: tuple[DiffPart, ...] = ()
    unshown = ""
    try:
        parts = unwrap(memory.run_diff(logged.run_id))[1]
    except (RunNotFound, UndoRefused) as error:
        unshown = str(error)
    spent = memory.log.spent(logged.run_id).value_or(None)
    document = {**run_document(logged), **diff_document(logged, parts), "spent": json_of(spent)}
    return Shown("run.html", document, {"run": logged, "parts": parts, "unshown": unshown, "spent": spent})


def run_backwards(asked: Asked) -> Shown:
    """Returns what undoing a run would change: shown before the person says yes."""
    memory, name = asked.acting, asked.path["run"]
    undone = unwrap(memory.undo(name, dry_run=True))
    logged, parts = unwrap(memory.run_diff(undone.undid.run_id, backwards=True))
    document = {**undone_document(undone), **diff_document(logged, parts)}
    return Shown("undo.html", document, {"run": logged, "parts": parts, "undone": undone})


# -- sessions ---------------------------------------------------------------------------------------------------------


def sessions(asked: Asked) -> Shown:
    """Returns the sessions, the newest first, or the fifty in which most of a query was said."""
    query, memory = asked.text("q"), asked.looking
    if query is not None:
        answer = unwrap(memory.search_sessions(SearchRequest(query, A_PAGE, here=memory.scope_on_arrival())))
        asked.said.extend(answer.notices)
        return Shown("sessions.html", fields_of(answer), {"answer": answer, "query": query})
    found = unwrap(memory.sessions())
    part, pages = _part(asked, len(found))
    context = {"sessions": found[part], "query": "", "pages": pages}
    return Shown("sessions.html", {"sessions": json_of(found[part])}, context)


def session(asked: Asked) -> Shown:
    """Returns what became of a session, and its words without secrets, as far as its transcript can be read."""
    memory, id = asked.looking, asked.path["session"]
    found = unwrap(memory.why_session(id))
    spoken: list[dict[str, Any]] = []
    silence = ""
    try:
        if found.sessions:
            taken = unwrap(memory.take_over(found.sessions[0].session_id, Harness(found.sessions[0].harness)))
            turns = taken.history.turns[-200:]
            spoken = [
                {"number": each.number, "role": each.role.value, "text": cut_chars(each.text, 4_000)} for each in turns
            ]
    except Error as error:
        silence = str(error)
    given = [each for each in DeliveryLog(memory.real_root).deliveries(id) if each.session == id]
    hidden = memory.reading.hidden_ids()
    ids = [each for each in dict.fromkeys(id for delivery in given for id in delivery.ids) if each not in hidden]
    document = {**fields_of(found), "given": ids, "words": spoken, "noWordsBecause": silence or None}
    live = unwrap(memory.store.list()).by_id
    titles = {each: live[each].meta.title for each in ids if each in live}
    context = {"found": found, "spoken": spoken, "silence": silence, "given": ids, "titles": titles}
    return Shown("session.html", document, context)


# -- what would be told now -------------------------------------------------------------------------------------------


def now(asked: Asked) -> Shown:
    """Returns what the hook of a harness would tell a session that starts in a directory, or is asked something there: by
    the code that tells it, recorded nowhere."""
    looking = asked.looking
    directory = asked.text("directory") or looking.cwd or "/"
    harness = asked.word("harness", Harness) or Harness.CLAUDE_CODE
    prompt = (asked.text("prompt") or "")[:MAX_PROMPT_CHARS]
    if not (directory.startswith("/") and os.path.isdir(directory)):
        raise UsageInvalid(f"{one_line(directory, 200)} is no directory", "Give the absolute path of one.")
    there = unwrap(open_memory(looking.environ, directory, asked.said.append)).called_by(looking.caller)
    kind = ASKED if prompt else START
    event = SessionEvent(harness.value, "", "", cwd=directory)
    hook = HookInjection(harness.value, Moment(event, kind, prompt, False), looking.environ, looking.real_root)
    off = there.switches().off(directory)
    silence = off.sentence if off is not None else ""
    if not (silence or is_told(harness.value, kind)):
        when = "with a prompt" if prompt else "at the start of a session"
        silence = f"No hook tells {harness} anything {when}."
    try:
        offer = Offer() if silence else hook.offer()
    except HookProblem as problem:
        raise UsageInvalid(str(problem.args[-1])) from None
    injection = hook.assembled(offer)
    live = {each.meta.id: each for each in without_secret(unwrap(looking.store.list()).entries)}
    offered, in_view = {each.id for each in offer.passages}, hook.in_view(offer)
    around = place_of(there)
    left: list[dict[str, str]] = []
    unrelated = 0
    for each in () if silence else live.values():
        meta = each.meta
        if meta.id in injection.ids or meta.scope not in around.scopes:
            continue
        if meta.id in in_view:
            reason = f"{harness} reads all of it in a file with a managed section."
        elif meta.id in offered:
            reason = "There was no room for it."
        elif (because := barrier(each, around)) is not None:
            reason = because
        elif prompt:
            unrelated += 1
            continue
        else:
            reason = "Others of its section rank before it, or it only gives orders that no message of yours supports."
        left.append({"id": meta.id, "title": meta.title, "reason": reason})
    told = [live[id] for id in injection.ids if id in live]
    known = known_places(looking.environ, looking.real_root)
    places = sorted({each.common.removesuffix("/.git") for each in known.all()})
    document = {**injection_document(injection), "nothingBecause": silence or None}
    document |= {"leftOutBecause": left, "unrelated": unrelated}
    context = {"injection": injection, "silence": silence, "told": told, "unrelated": unrelated, "directory": directory}
    shown = {"left": left[:A_PAGE], "not_shown": len(left[A_PAGE:])}
    asked_for = {"harness": harness, "prompt": prompt, "harnesses": Harness, "places": places, "scope": around.scope}
    return Shown("now.html", document, {**context, **shown, **asked_for})


def projects(asked: Asked) -> Shown:
    switching = asked.looking.switching
    found = switching.projects(unwrap(asked.looking.scopes.list()))
    paused = unwrap(switching.paused())
    document = {"projects": json_of(found), "paused": [pause_document(each) for each in paused]}
    is_off = any(not each.scope for each in paused)
    return Shown("projects.html", document, {"projects": found, "paused": paused, "is_off": is_off})


# -- figures and health -----------------------------------------------------------------------------------------------

_DEFAULT_DAYS = 90


def figures(asked: Asked) -> Shown:
    days = asked.number("days", _DEFAULT_DAYS, LARGEST_DAYS)
    found = unwrap(asked.looking.statistics(days))
    return Shown("figures.html", statistics_document(found), {"found": found, "period": days})


def use(asked: Asked) -> Shown:
    days = asked.number("days", _DEFAULT_DAYS, LARGEST_DAYS)
    found = unwrap(asked.looking.use(days))
    return Shown("use.html", use_document(found), {"found": found, "period": days})


def health(asked: Asked) -> Shown:
    doctor = asked.looking.doctor()
    state = unwrap(doctor.health())
    report = evolve(doctor, health=lambda: Success(state)).examine()  # has the problems of `state` among its findings
    fixable = sum(each.fix is not None for each in report.findings)
    document = {"status": health_document(state), "doctor": fields_of(report)}
    context = {"health": state, "report": report, "fixable": fixable}
    return Shown("health.html", document, context)
