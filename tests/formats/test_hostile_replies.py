"""Every answer of a hostile agent command, from prompt to plan (P9, P11, P15, P18, P20, P21)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from returns.result import Failure, Result, Success

from agent_memory.adapters.surroundings.shipped_files import load_prompt_template
from agent_memory.domain.agent_request import SessionRequest
from agent_memory.domain.change import Create, Replace, Retire
from agent_memory.domain.entry import Listed, MemoryEntry, Meta, StoredEntry, body_hash
from agent_memory.domain.history import History, Role, Turn
from agent_memory.domain.plan import Plan, PlanFacts
from agent_memory.domain.planning.plan_window import plan_window
from agent_memory.domain.queue import InboxEntry, SessionFile
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.domain.vocabulary import Harness, Origin, Status
from agent_memory.formats.prompt import Frame, PromptFacts, plan_prompt_budget, render_consolidate_prompt
from agent_memory.formats.reply import decode_reply, parse_reply

pytestmark = pytest.mark.shared

GOOD = ("ok", "fenced", "thinking-tags", "bom-crlf", "prompt-echo-then-ok", "stderr-flood")
REFUSED = (
    "empty", "truncated", "killed-after-half", "rate-limit-text", "refusal", "refusal-with-empty-json", "prompt-echo", "wrong-nonce",
    "invalid-utf8", "deep-nesting", "dup-keys", "wrong-types", "thousand-items", "no-stdin-read", "id-forgery", "self-pin-and-hot",
    "wipe-archive-all", "wipe-merge-all", "split-to-nothing", "merge-self", "unknown-ids", "rename-collision", "everything-hot", "unknown-action",
)  # fmt: skip
CONTENT = (
    "repetition-loop",
    "sentinel-end",
    "frontmatter-break",
    "path-traversal",
    "secret-echo",
    "tag-chars",
    "import-directive",
)
BY_THE_RUNNER = {
    "exit-nonzero-with-valid-stdout",
    "hang",
    "hang-after-output",
    "orphan-grandchild-keeps-pipe",
    "ignores-sigterm",
    "endless",
}
"""Whatever they print, it is the process that is at fault: the runner's tests have them."""

NOON = 1_770_984_000_000
NONCE = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
BODIES = ("Port 8080.", "Use `bun test`.", "Never push.", "See src/app.", "Plain.")
STORED = tuple(
    StoredEntry(
        Listed(Meta(f"id__bbbbb{n}", f"Note {n}", 5, 5), f"topics/{n}.md", f"h{n}", body_hash=body_hash(body)), body
    )
    for n, body in enumerate(BODIES, 1)
)
WINDOW = History(
    Harness.CLAUDE_CODE,
    "s",
    (
        Turn(1, Role.USER, "Which port?", "a", at_ms=NOON),
        Turn(2, Role.TOOL, "x", "b"),
        Turn(3, Role.AGENT, "8080", "c"),
    ),
)
ENTRY = InboxEntry(NOON, Harness.CLAUDE_CODE, SessionFile("claude-code-session", "s"))
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def asked(shared: Path, mode: str) -> Result[Plan, Any]:
    template = load_prompt_template("consolidate").unwrap()
    listed = tuple(each.listed for each in STORED)
    budget = plan_prompt_budget(template, 120_000, listed).unwrap()
    request = SessionRequest("", NONCE, ENTRY, WINDOW, STORED, now_ms=NOON)
    facts = PromptFacts(Frame(NONCE, "0a1b2c3d4e5f6071"), request, "global", budget, listed)
    prompt = render_consolidate_prompt(template, facts)
    command = [sys.executable, str(shared / "tools" / "fake_llm.py"), mode, "consolidate"]
    output = subprocess.run(command, input=prompt.encode(), capture_output=True, check=False).stdout
    known = PlanFacts(
        entry=ENTRY,
        window=WINDOW,
        scope="global",
        live=listed,
        taken_ids=frozenset(each.meta.id.casefold() for each in listed),
        shown={each.meta.id: each for each in STORED},
        status=Status.CONSOLIDATED,
        now_ms=NOON,
        live_at_start=len(listed),
    )
    return (
        decode_reply(output)
        .bind(lambda text: parse_reply(redact(text).text, NONCE))
        .map(lambda reply: plan_window(reply, known))
    )


def created(result: Result[Plan, Any]) -> list[MemoryEntry]:
    assert isinstance(result, Success), result
    changes = result.unwrap().changes
    assert not any(isinstance(change, Replace | Retire) for change in changes)
    return [change.entry for change in changes if isinstance(change, Create)]


def test_every_mode_is_tried(shared: Path) -> None:
    tool = str(shared / "tools" / "fake_llm.py")
    modes = subprocess.run([sys.executable, tool, "--list"], capture_output=True, text=True, check=True).stdout.split()
    assert set(modes) == {*GOOD, *REFUSED, *CONTENT, *BY_THE_RUNNER}


@pytest.mark.parametrize("mode", GOOD)
def test_a_good_reply_becomes_its_entry(shared: Path, mode: str) -> None:
    (entry,) = created(asked(shared, mode))
    assert (entry.meta.title, entry.body) == (
        "retry budget for flaky bun tests",
        "Use `bun test --rerun 2` only in CI.",
    )
    assert (entry.meta.origin, entry.meta.sources[0].turns) == (Origin.AGENT, ())


@pytest.mark.parametrize("mode", REFUSED)
def test_a_bad_reply_is_refused_with_reasons(shared: Path, mode: str) -> None:
    result = asked(shared, mode)
    assert isinstance(result, Failure), result
    assert result.failure().reasons


@pytest.mark.parametrize("mode", CONTENT)
def test_what_is_unsafe_in_a_reply_is_dropped_cleaned_or_escaped(shared: Path, mode: str) -> None:
    entries = created(asked(shared, mode))
    assert bool(entries) is (mode != "repetition-loop")
    for entry in entries:
        meta = entry.meta
        for text in (meta.title, meta.description, entry.body, *meta.tags):
            assert not FORBIDDEN.search(text)
            assert not re.search(r"agent-memory:(?:start|end)|ghp_", text)
        assert "\n" not in meta.title + meta.description + "".join(meta.tags)
        assert all(re.fullmatch(r"topic__[\w.+#-]+", tag) for tag in meta.tags)
        assert "/" not in file_name_of(meta)
        assert not meta.pinned
        assert meta.status is Status.CONSOLIDATED
        assert meta.id not in {each.meta.id for each in STORED}
        assert len(meta.title) <= 200
