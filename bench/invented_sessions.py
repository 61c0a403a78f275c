"""Transcripts of Claude Code of any size, as one session writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bench.measure import MEGA

from agent_memory.text.instants import iso_of

SESSION = "00000000-0000-4000-8000-00000000be7c"


def record(number: int, kind: str, message: object, **further: object) -> bytes:
    value = {
        "parentUuid": f"{number - 1:08x}-0000-4000-8000-000000000000",
        "isSidechain": False,
        "cwd": "/srv/harbour",
        "sessionId": SESSION,
        "version": "2.1.210",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": f"{number:08x}-0000-4000-8000-000000000000",
        "timestamp": iso_of(1_770_000_000_000 + number),
        **further,
    }
    return json.dumps(value).encode() + b"\n"


def text_message(role: str, text: str, id: str = "") -> dict[str, object]:
    return {"role": role, "id": id, "model": "claude-opus-5", "content": [{"type": "text", "text": text}]}


def working_session(size_bytes: int) -> Iterator[bytes]:
    """What a long session holds: prompts, answers in blocks, calls, long outputs, progress."""
    number = written = 0
    output = "src/harbour/server.py:120: warning: unused import of the old port table\n" * 60
    while written < size_bytes:
        call = f"toolu_{number}"
        asked = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"make test-{number}"}}
        answered = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": False}
        round_of_records = [
            record(number, "user", text_message("user", f"Look at failure {number}, please.")),
            record(
                number + 1,
                "assistant",
                text_message("assistant", "I run the tests and read the log. " * 6, f"m{number}"),
            ),
            record(number + 2, "assistant", {"role": "assistant", "id": f"m{number}", "content": [asked]}),
            *(
                record(number + 3 + step, "progress", None, data={"type": "bash_progress", "output": output[:1500]})
                for step in range(5)
            ),
            record(number + 8, "user", {"role": "user", "content": [answered]}),
        ]
        number += len(round_of_records)
        written += sum(map(len, round_of_records))
        yield from round_of_records


def one_long_line(size_bytes: int) -> Iterator[bytes]:
    yield record(0, "user", text_message("user", "Before."))
    yield b'{"type":"user","message":{"content":"'
    for _ in range(size_bytes // MEGA):
        yield b"x" * MEGA
    yield b'"}}\n'
    yield record(1, "user", text_message("user", "After."))
