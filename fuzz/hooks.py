"""What a harness sends to a hook: an inbox entry that can be read, a moment, or words for the log (P21)."""

from __future__ import annotations

import json

from agent_memory.capture.hook import entry_text
from agent_memory.capture.inbox_files import parse_inbox_entry, render_inbox_entry
from agent_memory.capture.session_event import PAYLOAD_KEYS, SHAPES, SessionEvent, session_event
from agent_memory.files.json_lite import scan_json, scan_members
from agent_memory.recall.moment import MAX_PROMPT_CHARS, Moment, hook_output, moment_of
from fuzz.target import Target

_TIMESTAMP = "2026-02-13T14:30:05.123Z"


def _check(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    payload = _payload(text)
    for harness in SHAPES:
        event = session_event(harness, payload)
        if isinstance(event, SessionEvent):
            written = entry_text(event, _TIMESTAMP, {"HOME": "/nowhere/home"})
            entry = parse_inbox_entry(written).unwrap()
            assert render_inbox_entry(entry) == written, "it is written another way than it is read"
            assert len(written) < 20_000, "it holds what only a message can be as long as"
        else:
            assert event is None or (event and event.isprintable())
        moment = moment_of(harness, payload)
        if isinstance(moment, Moment):
            assert len(moment.prompt) <= MAX_PROMPT_CHARS
            json.dumps(hook_output(harness, moment.event.event or "", moment.prompt))


def _payload(text: str) -> object:
    members = scan_members(text, PAYLOAD_KEYS)
    try:
        whole = scan_json(text)
    except (ValueError, RecursionError):
        return members
    if isinstance(whole, dict):
        # A key that stands twice counts as it was last said, in both.
        assert repr(members) == repr({key: whole[key] for key in members}), "cut and whole, it says different things"
        assert members.keys() == PAYLOAD_KEYS & whole.keys()
    return whole


HOOK = Target(
    "hook",
    _check,
    (*sorted(PAYLOAD_KEYS), "SessionEnd", "SessionStart", "UserPromptSubmit", "Stop", "compact", "/../", "\u202e", "\x00", "~/.claude/projects/p/",
     "subagents/agent-a.jsonl", "cursor_version", "3f1c8f0e-7d1a-4c55-9a0e-2b6f4f0c9d11", "T-0198c1aa"),
)  # fmt: skip
