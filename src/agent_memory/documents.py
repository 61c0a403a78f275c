"""Values of ours as JSON: what `--json` prints and the page's routes answer. One rule for all of them, and by hand what differs
from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from attrs import fields, fields_dict, has

from agent_memory.errors import Error
from agent_memory.note.note import Listed, Source, Status, Tier, UnreadableFile, Usage, reads_of
from agent_memory.recall.grounding import Grounding
from agent_memory.text.instants import day_of, iso_of
from agent_memory.text.json_shape import is_object, is_row
from agent_memory.text.plain_text import shown_on_a_line

if TYPE_CHECKING:
    from agent_memory.acts.review import Decided, ReviewItem
    from agent_memory.capture.switches import Pause
    from agent_memory.care.checks import ScopeUse
    from agent_memory.care.health import Health
    from agent_memory.care.statistics import Statistics
    from agent_memory.care.use import Use
    from agent_memory.pipelines.undo import Undone
    from agent_memory.recall.assembling import Injection
    from agent_memory.recall.hits import SearchAnswer
    from agent_memory.rules.run_log import LoggedRun
    from agent_memory.store.diffs import DiffPart

_AS_IT_IS = frozenset({str, int, float, bool, type(None)})


def json_of(value: Any) -> Any:
    """Returns a value as JSON has it: an object of ours by its attributes, of a word of a vocabulary its text."""
    kind: type[Any] = value.__class__
    # In the order in which they are met: two thousand notes have fifty thousand values.
    if kind in _AS_IT_IS:
        return value
    if is_row(value):
        return [json_of(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Error):
        return {"code": value.code, "message": str(value)}
    if isinstance(value, UnreadableFile):
        return fields_of(value, "path", "problems")  # of the notes that are missing from an answer (P6)
    if isinstance(value, Grounding):
        return {"path": value.path, "state": value.state, "now": value.now or None, "commit": value.commit or None}
    if kind is dict:
        return {json_of(key): json_of(each) for key, each in value.items()}
    return fields_of(value)


def fields_of(value: Any, *names: str) -> dict[str, Any]:
    """Returns the attributes of a value, or only those with these names: keys in camelCase, or as its class names them;
    an instant, whose name ends with `at_ms`, in ISO 8601."""
    document: dict[str, Any] = {}
    for name in names or [each.name for each in fields(value.__class__)]:
        key, is_instant = _key(value.__class__, name)
        member = getattr(value, name)
        document[key] = iso_or_none(member) if is_instant else json_of(member)
    return document


@cache
def _key(cls: type, name: str) -> tuple[str, bool]:
    is_instant = name.endswith("at_ms")
    known = fields_dict(cls) if has(cls) else {}
    stated: str | None = known[name].metadata.get("key") if name in known else None
    return stated or camel_case(name.removesuffix("_ms") if is_instant else name), is_instant


def rows_of(values: Iterable[Any], *names: str) -> list[dict[str, Any]]:
    return [fields_of(each, *names) for each in values]


def iso_or_none(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso_of(at_ms)


def camel_case(name: str) -> str:
    """Returns `notBefore` of `not_before`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def mapped_texts(value: Any, mapped: Callable[[str], str]) -> Any:
    """Returns a JSON value with each of its texts, but no key, made another."""
    if isinstance(value, str):
        return mapped(value)
    if is_object(value):
        return {key: mapped_texts(each, mapped) for key, each in value.items()}
    return [mapped_texts(each, mapped) for each in value] if is_row(value) else value


def entry_document(
    listed: Listed,
    usage: Usage | None = None,
    body: str | None = None,
    *,
    tier: Tier = Tier.COLD,
    unmerged: str = "",
    grounding: Iterable[Grounding] = (),
) -> dict[str, Any]:
    """Returns a note: the frontmatter keys of design §3.2, with `path`, `tier` and, where it is given, `body`. `used`
    and `last_used` include every host's ledger, where `usage` says so; `status` is `promoted` for what is hot. Instants
    are epoch ms, `last_used` ISO 8601."""
    from agent_memory.note.note_format import META_FIELDS  # takes long to load, and `--help` and errors need none of it

    meta = listed.meta
    usage = usage or Usage(meta.used, meta.last_used_at_ms)
    front = {field.key: json_of(getattr(meta, field.attribute)) for field in META_FIELDS}
    front["status"] = (Status.PROMOTED if tier is Tier.HOT else meta.status).value
    front |= {"used": usage.count, "last_used": iso_or_none(usage.last_at_ms)}
    for absent in ("cleared", *([] if meta.withheld else ["withheld"])):
        del front[absent]
    for source in front["sources"]:
        if not source["imported"]:
            del source["imported"]
    return {
        **front,
        "path": listed.path,
        "archived": listed.archived,
        "tier": tier.value,
        **({"unmerged": unmerged} if unmerged else {}),
        **({"grounding": found} if (found := json_of(tuple(grounding))) else {}),
        **({} if body is None else {"body": body}),
    }


def review_document(items: Iterable[ReviewItem], tier_of: Callable[[Listed], Tier]) -> dict[str, Any]:
    return {
        "items": [
            {
                **fields_of(each, "key", "kind", "reason", "source", "acts"),
                "putOffUntil": iso_or_none(each.put_off_until_ms),
                "notes": [entry_document(note, tier=tier_of(note)) for note in each.notes],
            }
            for each in items
        ]
    }


def decided_document(decided: Decided) -> dict[str, Any]:
    left = [{"item": each.subject, "reasons": list(each.reasons)} for each in decided.left]
    return {"run": decided.run_id, "summary": decided.summary, "left": left}


def error_document(error: Error) -> dict[str, Any]:
    """Returns an error without what the call may have quoted of secrets (P20)."""
    from agent_memory.redaction.redact import redact  # only what fails pays for it

    details = {camel_case(key): value for key, value in error.facts.items()}
    failure = {"error": {"code": error.code, "message": shown_on_a_line(str(error)), "details": details}}
    redacted: dict[str, Any] = mapped_texts(failure, lambda text: redact(text).text)
    return redacted


# -- what commands and the page answer ---------------------------------------------------------------------------------

_SCORE_DIGITS = 4
_ACTION = ("kind", "ids", "new_ids", "words")


def search_document(
    query: str,
    answer: SearchAnswer,
    totals: Mapping[str, Usage],
    mark: Callable[[Sequence[Source]], str] = lambda _: "",
    grounding: Mapping[str, Sequence[Grounding]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Returns the hits: `marks` are half-open ranges of code points of `snippet`; `mode` is what answered, `matched` how
    many notes had something of the query."""
    entries = [
        {
            **entry_document(
                hit.listed,
                reads_of(hit.listed.meta, totals),
                tier=hit.tier,
                unmerged=mark(hit.listed.meta.sources),
                grounding=grounding.get(hit.listed.meta.id, ()),
            ),
            "score": round(hit.score, _SCORE_DIGITS),
            "snippet": hit.snippet.text,
            "marks": json_of(hit.snippet.marks),
            "parts": [
                {"name": each.name, "value": round(each.value, _SCORE_DIGITS), "detail": each.detail}
                for each in hit.parts
            ],
            "superseded_by": hit.superseded_by,
        }
        for hit in answer.hits
    ]
    return {
        "query": query,
        "mode": answer.mode.value,
        "matched": answer.matched,
        "notices": list(answer.notices),
        "entries": entries,
    }


def injection_document(injection: Injection) -> dict[str, Any]:
    return {
        "entries": list(injection.ids),
        "profile": injection.profile or None,
        **fields_of(injection, "text", "tokens", "budget", "shortened", "left_out"),
    }


def run_document(run: LoggedRun) -> dict[str, Any]:
    return {
        **fields_of(run, "run_id", "machine", "started_at_ms", "ended_at_ms", "result", "summary"),
        "error": run.error or None,
        **fields_of(run, "undone_by", "undid", "kept"),
        "actions": rows_of(run.actions, *_ACTION),
        "sessions": rows_of(run.sessions, "harness", "session_id", "verdict", "reason", "entry_ids"),
        **fields_of(run, "dropped", "warnings", "problems"),
    }


def diff_document(run: LoggedRun, parts: Iterable[DiffPart]) -> dict[str, Any]:
    return fields_of(run, "run_id", "machine", "summary") | changes_document(parts)


def changes_document(parts: Iterable[DiffPart]) -> dict[str, Any]:
    return {"changes": [fields_of(each, "subject", "act", "words") | {"diff": "\n".join(each.lines)} for each in parts]}


def undone_document(undone: Undone) -> dict[str, Any]:
    from agent_memory.pipelines.undo import sentence_of  # what lists and reads does without

    return {
        "run": undone.run_id or None,
        "undid": undone.undid.run_id,
        "machine": undone.undid.machine,
        "summary": sentence_of(undone),
        "actions": rows_of(undone.actions, *_ACTION),
        **fields_of(undone, "dry_run", "sections", "left", "warnings"),
    }


def scopes_document(uses: Iterable[ScopeUse]) -> dict[str, Any]:
    scopes = [{"scope": each.scope, "notes": each.notes, "gone": each.is_gone, "now": each.now} for each in uses]
    return {"scopes": scopes}


def health_document(health: Health) -> dict[str, Any]:
    last = health.last_runs[0] if health.last_runs else None
    return {
        **fields_of(health, "root", "entries", "archived", "unreadable", "pending", "oldest_pending_at_ms", "failed"),
        "setBack": [
            {"key": key, **fields_of(trouble, "code", "message", "attempts")} for key, trouble in health.troubles
        ],
        "lastCaptures": {harness: iso_or_none(at_ms) for harness, at_ms in health.last_captures},
        **fields_of(health, "deliveries"),
        "lastRun": last
        and {
            "run": last.run_id,
            **fields_of(last, "machine", "ended_at_ms", "result", "summary"),
            "message": last.error,
            "sessions": len(last.sessions),
        },
        "schedule": job_documents(health),
        **fields_of(health, "hook_problems", "switches", "agent", "to_review"),
        **({"withheld": health.withheld} if health.withheld else {}),
        **({"team": health.team} if health.team else {}),
        "spend": {
            "day": day_of(health.now_ms),
            **fields_of(health.spent_today, "calls", "prompt_chars", "reply_chars"),
            "maxCallsPerDay": health.max_calls_per_day,
        },
        **fields_of(health, "problems"),
    }


def pause_document(pause: Pause) -> dict[str, Any]:
    """Returns a pause; its end is null until somebody resumes, its project for everything."""
    return {
        "project": pause.scope or None,
        "path": pause.path or None,
        "since": pause.since,
        "until": pause.until or None,
    }


def job_documents(health: Health) -> list[dict[str, Any]]:
    return [
        {
            **fields_of(each, "name", "scheduler", "interval_seconds", "next_at_ms"),
            "failures": each.record.failures,
            "lastRun": each.record.last
            and fields_of(each.record.last, "started_at_ms", "ended_at_ms", "exit_code", "message"),
        }
        for each in health.jobs
    ]


def statistics_document(found: Statistics) -> dict[str, Any]:
    """Returns the numbers. Days are in UTC and oldest first, every day of the period among them."""
    names = found.names
    counts = {name: dict(each) for name, each in found.counts.items()}

    def days(**series: str) -> list[dict[str, Any]]:
        return [
            {"day": day, **{key: found.days[name][at] for key, name in series.items()}} for at, day in enumerate(names)
        ]

    spent = {"calls": "calls", "promptChars": "prompt characters", "replyChars": "reply characters"}
    return {
        "since": names[0],
        "until": names[-1],
        "notes": {
            **fields_of(found, "live", "archived", "unreadable"),
            "kinds": counts["kind"],
            "scopes": counts["scope"],
            "agents": counts["agent"],
            "origins": counts["origin"],
            "statuses": counts["status"],
            "tiers": counts["tier"],
            "days": days(created="notes", known="known"),
        },
        "reads": {"ever": found.reads_ever, "harnesses": counts["reads"], "days": days(count="reads")},
        "captures": {"harnesses": counts["captures"], "days": days(count="captures")},
        "deliveries": {"harnesses": counts["deliveries"], "days": days(count="deliveries", tokens="tokens")},
        "spend": {**{key: sum(found.days[name]) for key, name in spent.items()}, "days": days(**spent)},
        "runs": {
            "machines": {machine: dict(results) for machine, results in found.machines.items()},
            "sessions": counts["sessions"],
            "days": days(count="runs", failed="failed runs"),
        },
    }


def use_document(found: Use) -> dict[str, Any]:
    """Returns what came of the notes that sessions were told, with how many notes had each outcome."""
    return {**fields_of(found), "outcomes": found.outcomes}
