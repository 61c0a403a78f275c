"""A settings file of any syntax: an entry goes in, is found, and comes out again."""

from __future__ import annotations

import pytest

from agent_memory.domain.installing.wanted import Element, Member, Syntax
from agent_memory.formats.entry_values import EditRefused, has
from agent_memory.formats.settings_revision import cut, is_bare, parse_settings, put, text_of

SERVER = Member(("servers", "memory"), {"command": "/usr/bin/memory"}, "/usr/bin/memory")
HOOK = Element(("hooks", "Stop"), {"command": "/usr/bin/memory"}, "/usr/bin/memory")
DOCUMENTS: list[tuple[Syntax, str]] = [
    ("jsonc", '{\n  "model": "x" // mine\n}\n'),
    ("toml", 'model = "x" # mine\n'),
    ("yaml", "model: x # mine\n"),
]


@pytest.mark.parametrize(("syntax", "text"), DOCUMENTS)
def test_an_entry_goes_in_and_comes_out_and_nothing_else_differs(syntax: Syntax, text: str) -> None:
    full = put(text, SERVER, syntax)
    value = parse_settings(full, syntax)
    assert (value["model"], has(value, SERVER)) == ("x", True)
    assert cut(full, SERVER, syntax, text) == text
    assert cut(text, SERVER, syntax, text) == text, "what is not there cannot be cut out"


@pytest.mark.parametrize("syntax", ["jsonc", "toml", "yaml"])
def test_what_is_no_document_is_told_and_not_edited(syntax: Syntax) -> None:
    for act in (lambda: parse_settings("{[", syntax), lambda: put("{[", SERVER, syntax)):
        with pytest.raises(EditRefused):
            act()


@pytest.mark.parametrize("syntax", ["toml", "yaml"])
def test_lists_are_edited_in_json_only(syntax: Syntax) -> None:
    with pytest.raises(TypeError, match="lists"):
        put("", HOOK, syntax)
    with pytest.raises(TypeError, match="lists"):
        cut("", HOOK, syntax, None)


@pytest.mark.parametrize(("data", "word"), [(b"a\xffb", "byte 1"), (b"a\0b", "\\0")])
def test_what_is_no_text_is_told(data: bytes, word: str) -> None:
    with pytest.raises(EditRefused) as refused:
        text_of(data)
    assert word in str(refused.value)
    assert text_of("schön".encode()) == "schön"


@pytest.mark.parametrize(("text", "syntax", "bare"), [(" {\n} ", "jsonc", True), ("// x\n", "jsonc", False)])
def test_a_json_document_without_value_and_comment_is_bare(text: str, syntax: Syntax, bare: bool) -> None:
    assert is_bare(text, syntax) is bare


@pytest.mark.parametrize("syntax", ["toml", "yaml"])
def test_other_documents_are_bare_where_they_are_blank(syntax: Syntax) -> None:
    assert (is_bare(" \n", syntax), is_bare("# x\n", syntax)) == (True, False)
