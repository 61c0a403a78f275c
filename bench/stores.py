"""The stores that `bench.retrieval` compares, each behind two methods; whoever has another one writes those two."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from bench.sets import Document

from agent_memory.app import open_memory
from agent_memory.note.file_name import file_name_of
from agent_memory.note.note import Harness, Importance, Kind, MemoryEntry, Meta, Source
from agent_memory.note.note_format import render_note
from agent_memory.note.terms import STOP_WORDS
from agent_memory.recall.hits import Mode, SearchRequest
from agent_memory.text.ids import mint_id, normal_tags

FIELDS = ("title", "tags", "body")
PATIENCE_SECONDS = 60


class Store(Protocol):
    """Made anew, with an empty directory, for each corpus. One that is a context manager is closed by leaving it."""

    def add(self, documents: Sequence[Document]) -> None:
        """Take in all documents of a corpus, to be found by the next search."""

    def search(self, question: str, k: int) -> Sequence[str]:
        """Returns the ids of the best `k` documents at most, best first."""


NewStore = Callable[[Path], Store]


class Ours:
    """`Memory.search` over notes as files."""

    def __init__(self, directory: Path, mode: Mode) -> None:
        self.root, self.mode = directory / "root", mode
        environ = {"HOME": str(directory), "AGENT_MEMORY_ROOT": str(self.root), "PATH": os.environ["PATH"]}
        self.memory = open_memory(environ, directory, print).unwrap()
        self.documents: dict[str, str] = {}
        """The document's id by the note's."""

    def add(self, documents: Sequence[Document]) -> None:
        ids: dict[str, str] = {}
        for each in documents:
            ids[each.id] = mint_id(each.id, each.at_ms, self.documents)
            self.documents[ids[each.id]] = each.id
        replaced: dict[str, list[str]] = {}
        for each in documents:
            replaced.setdefault(each.superseded_by, []).append(ids[each.id])
        topics = self.root / "topics"
        topics.mkdir(parents=True)
        for each in documents:
            meta = Meta(
                ids[each.id],
                each.title,
                each.at_ms,
                each.at_ms,
                kind=Kind(each.kind),
                tags=normal_tags(each.tags),
                importance=Importance(each.importance),
                valid_from_ms=each.at_ms if each.session else None,
                supersedes=tuple(replaced.get(each.id, ())),
                sources=(Source(Harness.MANUAL, each.session, turns=(each.turn,)),) if each.session else (),
            )
            body = re.sub(r"\[\[([\w-]+)\]\]", lambda link: f"[[{ids.get(link[1], link[1])}]]", each.text)
            path = topics / file_name_of(meta)
            path.write_text(render_note(MemoryEntry(meta, body)), "utf-8")
            os.utime(path, (path.stat().st_mtime - 3_600,) * 2)  # a file that was written just now is read twice
        self.memory.index.refresh().unwrap()  # a search waits a second for it at most
        if self.mode is not Mode.BM25:
            if isinstance(self.memory.meanings, str):
                raise SystemExit(f"{self.memory.meanings} Without it, compare `ours`, which goes by words.")
            self.memory.meanings.fill().unwrap()

    def search(self, question: str, k: int) -> Sequence[str]:
        answer = self.memory.search(SearchRequest(question, limit=k, mode=self.mode)).unwrap()
        return [self.documents[hit.listed.meta.id] for hit in answer.hits]


class Fts5:
    """SQLite's full-text search with Porter's stemmer; stop words are left out of questions, the others joined by OR."""

    def __init__(self, _: Path) -> None:
        self.table = sqlite3.connect(":memory:")
        columns = ", ".join(FIELDS)
        self.table.execute(
            f"CREATE VIRTUAL TABLE notes USING fts5(id UNINDEXED, {columns}, tokenize='porter unicode61')"
        )

    def add(self, documents: Sequence[Document]) -> None:
        self.table.executemany(
            "INSERT INTO notes VALUES (?, ?, ?, ?)", [(each.id, *_fields(each)) for each in documents]
        )

    def search(self, question: str, k: int) -> Sequence[str]:
        wanted = " OR ".join(f'"{word}"' for word in _words(question))
        sql = "SELECT id FROM notes WHERE notes MATCH ? ORDER BY rank, rowid LIMIT ?"
        return [id for (id,) in self.table.execute(sql, (wanted, k))] if wanted else []

    def __del__(self) -> None:
        self.table.close()


class Tantivy:
    """tantivy with its English stemmer; questions as those to FTS5."""

    def __init__(self, _: Path) -> None:
        try:
            self.engine: Any = importlib.import_module("tantivy")
        except ImportError as error:
            raise SystemExit("tantivy is not installed here: pip install tantivy") from error
        schema = self.engine.SchemaBuilder().add_text_field("id", stored=True, tokenizer_name="raw")
        for name in FIELDS:
            schema = schema.add_text_field(name, tokenizer_name="en_stem")
        self.index = self.engine.Index(schema.build())

    def add(self, documents: Sequence[Document]) -> None:
        writer = self.index.writer()
        for each in documents:
            writer.add_document(self.engine.Document(id=each.id, **dict(zip(FIELDS, _fields(each), strict=True))))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def search(self, question: str, k: int) -> Sequence[str]:
        query = self.index.parse_query(" ".join(_words(question)).lower(), list(FIELDS))
        return [self.searcher.doc(address)["id"][0] for _, address in self.searcher.search(query, k).hits]


class McpServer:
    """Any server with our tools `write_context` and `search_context`, spoken to on stdio. It runs in a home of its own, with
    PATH as its whole environment: whatever else it needs, `env NAME=VALUE COMMAND` gives."""

    def __init__(self, directory: Path, command: str) -> None:
        self.command, self.errors = command, directory / "stderr"
        environ = {"PATH": os.environ["PATH"], "HOME": str(directory), "LANG": "C.UTF-8"}
        words, pipe = shlex.split(command), subprocess.PIPE
        try:
            with self.errors.open("wb") as errors:
                self.process = subprocess.Popen(
                    words, stdin=pipe, stdout=pipe, stderr=errors, cwd=directory, env=environ
                )
        except OSError as error:
            raise SystemExit(f"{command} cannot be started: {error}") from error
        self.documents: dict[str, str] = {}
        self.number = 0
        self.refused = 0
        """Questions that were no query to it."""

    def __enter__(self) -> McpServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def add(self, documents: Sequence[Document]) -> None:
        client = {"name": "agent-memory-bench", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"method": "notifications/initialized"})
        for each in documents:
            note = {"topic": each.title, "content": each.text, "tags": list(each.tags)}
            is_error, said = self._call("write_context", note)
            id = re.search(r"\bid=`([^`]+)`", said)
            if is_error or id is None:
                raise SystemExit(f"{self.command} names no id for {each.id}: {said[:300]}")
            self.documents.setdefault(id[1], each.id)

    def search(self, question: str, k: int) -> Sequence[str]:
        is_error, said = self._call("search_context", {"query": question, "top_k": k, "min_score": 0})
        if is_error:  # some take a question for their query language
            self.refused += 1
            words = " ".join(re.findall(r"\w+", question))
            _, said = self._call("search_context", {"query": words, "top_k": k, "min_score": 0})
        found = re.findall(r"(?m)^\*\*id:\*\* `([^`]+)`", said)
        return [self.documents[id] for id in dict.fromkeys(found) if id in self.documents]

    def _call(self, tool: str, arguments: Mapping[str, object]) -> tuple[bool, str]:
        """Returns whether the tool failed, and what it said."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        return bool(result.get("isError")), "\n".join(part.get("text", "") for part in result["content"])

    def _ask(self, method: str, params: Mapping[str, object]) -> Any:
        self.number += 1
        patience = threading.Timer(PATIENCE_SECONDS, self.process.kill)
        patience.start()
        try:
            self._send({"id": self.number, "method": method, "params": params})
            assert self.process.stdout is not None
            for line in self.process.stdout:
                answer = json.loads(line)
                if answer.get("id") == self.number and "method" not in answer:
                    return answer["result"]
        except (OSError, ValueError, KeyError) as error:
            raise SystemExit(f"{self.command} does not speak MCP to {method}: {error!r}") from error
        finally:
            patience.cancel()
        said = self.errors.read_text("utf-8", "replace")[-500:]
        raise SystemExit(f"{self.command} ended, or was silent for {PATIENCE_SECONDS} s. {said}")

    def _send(self, message: Mapping[str, object]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()


BUILT_IN: Mapping[str, NewStore] = {
    "ours": lambda directory: Ours(directory, Mode.BM25),
    "ours-hybrid": lambda directory: Ours(directory, Mode.HYBRID),
    "fts5": Fts5,
    "tantivy": Tantivy,
}


def stores_of(specs: Sequence[str]) -> dict[str, NewStore]:
    """Returns the stores that each `--store` names, by name: some of BUILT_IN, MODULE:CLASS of an adapter, and at the end
    [NAME=]mcp:COMMAND. SystemExit where there is no such store."""
    found: dict[str, NewStore] = {}
    for spec in specs:
        plain, _, command = spec.partition("mcp:")
        *names, last = plain.split(",")
        for name in names if command else [*names, last]:
            found[name] = BUILT_IN.get(name) or _adapter(name)
        if command:
            found[last.rstrip("=") or f"mcp:{command}"] = partial(McpServer, command=command)
    return found


def _adapter(name: str) -> NewStore:
    module, _, member = name.partition(":")
    try:
        adapter: NewStore = getattr(importlib.import_module(module), member)
    except (ImportError, AttributeError, ValueError) as error:
        known = ", ".join(BUILT_IN)
        raise SystemExit(f"there is no store {name}: {error}. Known are {known}, mcp:COMMAND, MODULE:CLASS.") from error
    return adapter


def _fields(document: Document) -> tuple[str, str, str]:
    title = "" if document.text.startswith(document.title) else document.title  # no word counts twice
    return title, " ".join(document.tags), document.text


def _words(question: str) -> Sequence[str]:
    """Returns the words of a question, each once, without stop words unless there are no others."""
    words = tuple(dict.fromkeys(re.findall(r"\w+", question)))
    return [word for word in words if word.lower() not in STOP_WORDS] or words
