"""A fast-export stream without some of its files."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, strategies as st

from agent_memory.formats.export_stream import Choice, StreamBroken, filtered_export, plain_path

A, B = "a" * 40, "b" * 40
STREAM = (
    b"feature done\n"
    b"blob\nmark :1\noriginal-oid " + A.encode() + b"\ndata 5\nkeep\n\n"
    b"blob\nmark :2\noriginal-oid " + B.encode() + b"\ndata 7\ncommit \n\n"
    b"reset refs/heads/main\n"
    b"commit refs/heads/main\nmark :3\noriginal-oid " + b"c" * 40 + b"\n"
    b"author P <p@h> 1 +0000\ncommitter P <p@h> 1 +0000\ndata 8\nsubject\n"
    b"M 100644 :1 topics/a.md\nM 100644 :2 topics/b c.md\n\n"
    b"done\n"
)
KEEP_ALL = Choice(lambda path: False, kept=frozenset({A, B}))


def filtered(choice: Choice, stream: bytes = STREAM) -> bytes:
    return b"".join(filtered_export(io.BytesIO(stream), choice))


def test_nothing_goes_but_what_is_to() -> None:
    lines = filtered(KEEP_ALL).splitlines()
    assert b"M 100644 :1 topics/a.md" in lines
    assert b"M 100644 :2 topics/b c.md" in lines
    assert lines.count(b"blob") == 2
    assert not [line for line in lines if line.startswith(b"original-oid")]


def test_a_path_a_version_and_their_blob_go_and_the_message_is_told() -> None:
    told: list[tuple[str, bool]] = []

    def message(text: str, touched: bool) -> str:
        told.append((text, touched))
        return "another\n"

    by_path = Choice(lambda path: path == "topics/b c.md", kept=frozenset({A}), message=message)
    by_version = Choice(
        lambda path: False, dropped=frozenset({("topics/b c.md", B)}), kept=frozenset({A}), message=message
    )
    for choice in (by_path, by_version):
        out = filtered(choice)
        assert b"commit \n\n" not in out
        assert b"D topics/b c.md\n" in out
        assert b"M 100644 :1 topics/a.md\n" in out
        assert b"data 8\nanother\n" in out
    assert told == [("subject\n", True)] * 2


def test_a_version_is_rewritten_in_its_place() -> None:
    choice = Choice(lambda path: False, rewritten={("topics/b c.md", B): b"new\n"}, kept=frozenset({A}))
    assert b"M 100644 inline topics/b c.md\ndata 4\nnew\n\n" in filtered(choice)


@given(st.integers(0, len(STREAM) - 1))
def test_a_stream_that_is_cut_is_never_taken_for_a_whole_one(at: int) -> None:
    try:
        out = filtered(KEEP_ALL, STREAM[:at])
    except StreamBroken:
        return
    assert not out.endswith(b"\ndone\n")


def test_a_blob_with_something_unknown_in_it_is_refused() -> None:
    with pytest.raises(StreamBroken, match="unexpected"):
        filtered(KEEP_ALL, b"blob\nmark :1\nwhatever\ndata 1\nx\n")


@pytest.mark.parametrize(
    ("quoted", "path"),
    [
        (b"topics/a b.md", "topics/a b.md"),
        (b'"topics/a \\"b\\".md"', 'topics/a "b".md'),
        (b'"topics/\\303\\251\\n\\\\.md"', "topics/é\n\\.md"),
    ],
)
def test_paths_are_read_as_git_writes_them(quoted: bytes, path: str) -> None:
    assert plain_path(quoted) == path
