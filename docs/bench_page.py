"""`contributing/bench.md`, from the figures of real runs in `contributing/bench.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_OTHERS = (
    "look at every note",
    "read every note",
    "read ID",
    "list",
    "remember",
    "consolidate one session",
    "generate-agents-md",
    "status",
    "defrag --dry-run",
    "doctor",
    "git status",
    "git add, git commit",
)
"""Measured beside those that the page tells."""
_SETS = {"coding": "hand-written notes", "toon": "toon-memory", "locomo": "LoCoMo", "beam": "BEAM, 128K"}
_COMPARE = """
## Compare your store

```sh
python -m bench retrieval --set locomo --path locomo10.json --limit 5 \\
  --store ours,fts5,tantivy --store 'agent-memory-store=mcp:npx agent-memory-store'
```

`--set` is `coding` (ours), `toon`, [`locomo`](https://github.com/snap-research/locomo),
[`longmemeval`](https://github.com/xiaowu0162/LongMemEval) or [`beam`](https://github.com/mohammadtavakoli78/BEAM) (a directory such as
`chats/100K`); you download the files. `--limit` takes the first conversations only; each is a store, each turn a note.

`mcp:COMMAND` is an MCP server with our `write_context` and `search_context`. It runs in an empty home; give it variables with
`mcp:env NAME=VALUE COMMAND`. Questions that it refuses are asked again without punctuation.

Other stores need an adapter, `--store MODULE:CLASS`:

```python
class MyStore:
    def __init__(self, directory):  # a new one
        self.documents = []

    def add(self, documents):  # each has id, text, title, tags, at_ms, session, turn
        self.documents += documents

    def search(self, question, k):  # the ids of the best k, best first
        words = set(question.lower().split())
        ranked = sorted(self.documents, key=lambda each: -len(words & set(each.text.lower().split())))
        return [each.id for each in ranked[:k]]
```
"""


def bench_page(notice: str, path: Path) -> str:
    """The page, with what was measured."""
    document = json.loads(path.read_text("utf-8"))
    figures = {
        (piece["bench"], each["of"], each["what"], each["notes"]): each["value"]
        for piece in document["pieces"]
        for each in piece["figures"]
    }

    def column(bench: str, what: str, notes: int | None = None) -> dict[str, float]:
        """The figures of one kind by what they are of, in the order in which they were measured."""
        return {key[1]: value for key, value in figures.items() if (key[0], key[2], key[3]) == (bench, what, notes)}

    def commands(column: Any) -> str:
        return "".join(_commands(column, each) for each in sorted({key[3] for key in figures if key[0] == "commands"}))

    parts = {"retrieval": _retrieval, "commands": commands}
    measured = {piece["bench"] for piece in document["pieces"]}
    told = (part(column) for bench, part in parts.items() if bench in measured)
    return f"# Figures\n\n{notice}{_how_measured(document)}{''.join(told)}{_COMPARE}"


def _how_measured(document: Mapping[str, Any]) -> str:
    days = sorted({piece["began_at"][:10] for piece in document["pieces"]})
    machine = document["machine"]
    versions = ", ".join(f"{name} {each}" for name, each in machine.items() if name not in ("system", "cpus"))
    return f"""
`python -m bench [--json docs/contributing/bench.json] NAME …`, then `make docs`, makes this page.

Measured on {", ".join(days)} by {machine["system"]} with {machine["cpus"]} CPUs, {versions}.
CPU times, on a busy machine.
"""


def _commands(column: Any, notes: int) -> str:
    cpu = column("commands", "again_cpu_ms", notes)
    return f"\n## Commands and hooks at {notes:,} notes\n\nWhole processes; ratio to a bare interpreter.\n\n" + _table(
        ("", "ms", "ratio"), ((f"`{of}`", cpu[of], cpu[of] / cpu["python -c pass"]) for of in cpu if of not in _OTHERS)
    )


def _retrieval(column: Any) -> str:
    value, low, high = (column("retrieval", f"recall_10{end}_percent") for end in ("", "_low", "_high"))
    questions, p50_ms = column("retrieval", "questions"), column("retrieval", "question_p50_ms")
    sets = [each for each in _SETS if each in questions]
    stores = dict.fromkeys(of.partition(", ")[2] for of in value)

    def cell(of: str) -> str | None:
        return f"{value[of]:.1f} ({low[of]:.1f}–{high[of]:.1f})" if of in value else None

    rows = [(store, *(cell(f"{each}, {store}") for each in sets), p50_ms.get(f"locomo, {store}")) for store in stores]
    return (
        "\n## What stores find\n\n"
        "Recall@10 in percent, with 95 % intervals; ms a question. `ours` goes by words, `ours-hybrid` by meaning too; FTS5 and\n"
        "tantivy stem and skip stop words; "
        "agent-memory-store had no embedding model, and refused most questions as they were.\n\n"
        + _table(("", *(f"{_SETS[each]} ({questions[each]:,.0f})" for each in sets), "ms"), rows)
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> str:
    lines = "".join(f"| {' | '.join(map(_cell, row))} |\n" for row in rows)
    return f"| {' | '.join(head)} |\n|---|{'--:|' * (len(head) - 1)}\n{lines}"


def _cell(value: str | float | None) -> str:
    """The text, or two to three digits that count."""
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
