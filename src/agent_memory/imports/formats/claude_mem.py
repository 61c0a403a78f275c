"""claude-mem: what a model observed in sessions, in its database or in the JSON that it exports."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from agent_memory.files.paths import names_in
from agent_memory.imports import base
from agent_memory.imports.formats.claude import cwd_in, home_of
from agent_memory.note.note import Harness, Kind, Origin, Sensitivity
from agent_memory.text.json_shape import is_list, is_object

_CHANGES = ("feature", "refactor", "change")
_KINDS = {"decision": Kind.DECISION, "bugfix": Kind.LESSON}


def _read(path: str, machine: base.Machine) -> Iterator[base.Found]:
    if path.endswith(".json"):
        dump = base.read_json(path)
        base.need(is_object(dump) and is_list(dump.get("observations")), path, "it is not an export of claude-mem")
        lists = (dump.get(name) for name in ("observations", "sessions", "summaries"))
        observations, known, summaries = (list(filter(is_object, each if is_list(each) else ())) for each in lists)
    else:
        observations, known, summaries = base.read_tables(
            path, "memory_session_id", "it has no observations of claude-mem",
            "observations", "sdk_sessions", "session_summaries",
        )  # fmt: skip
    sessions = {str(each.get("memory_session_id")): each for each in known}
    ids = {key: str(each.get("content_session_id") or "") for key, each in sessions.items()}
    places = {id: _place_of(id, machine) for id in set(ids.values())}
    # Claude Code deletes old transcripts: then the project's other sessions tell where it is.
    of_project: dict[str, set[str]] = {}
    for each in observations:
        if place := places.get(ids.get(str(each.get("memory_session_id")), "")):
            of_project.setdefault(str(each.get("project")), set()).add(place)
    for each in observations:
        key, others = str(each.get("memory_session_id")), of_project.get(str(each.get("project")), set())
        place = places.get(ids.get(key, "")) or (next(iter(others)) if len(others) == 1 else None)
        yield _observation(each, ids.get(key, ""), str(sessions.get(key, {}).get("platform_source") or "claude"), place)
    for each in summaries:
        yield base.LeftOut(str(each.get("request")), "it is the handoff of a session that is over")


def _place_of(session_id: str, machine: base.Machine) -> str | None:
    """Returns the directory in which a session of Claude Code took place, by its transcript."""
    projects = f"{home_of(machine)}/projects"
    slugs = names_in(projects) if re.fullmatch(r"[\w-]+", session_id) else ()
    paths = (f"{projects}/{slug}/{session_id}.jsonl" for slug in slugs)
    return next(filter(None, map(cwd_in, filter(os.path.isfile, paths))), None)


def _observation(each: dict[str, Any], session_id: str, platform: str, place: str | None) -> base.Found:
    concepts, word = base.texts_in(each.get("concepts")), str(each.get("type") or "")
    if word in _CHANGES:
        return base.LeftOut(str(each.get("title")), "it says what was changed, which git knows")
    facts = "\n".join(f"- {fact}" for fact in base.texts_in(each.get("facts")))
    said = each.get("narrative") or each.get("text") or each.get("subtitle") or ""
    return base.Record(
        f"observation/{each.get('id')}-{each.get('created_at_epoch')}",
        "\n\n".join(filter(None, (str(said), facts))),
        str(each.get("title") or ""),
        str(each.get("subtitle") or ""),
        _KINDS.get(word) or (Kind.LESSON if "gotcha" in concepts else Kind.FACT),
        concepts,
        base.instant_in(each.get("created_at_epoch")) or base.instant_in(each.get("created_at")),
        place=place,
        project=str(each.get("project") or ""),
        harness=Harness.CODEX if platform == "codex" else Harness.CLAUDE_CODE,
        session_id=session_id or None,
        agent=str(each.get("generated_by_model") or "") or None,
        origin=Origin.AGENT,
        sensitivity=Sensitivity.PRIVATE if word == "sensitive" else Sensitivity.NORMAL,
    )


SOURCE = base.Source(
    "claude-mem",
    _read,
    lambda machine: [f"{machine.directory('CLAUDE_MEM_DATA_DIR', '.claude-mem')}/claude-mem.db"],
    has_ids=True,
)
