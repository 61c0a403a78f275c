"""A settings file's bytes and the entries in it, whatever its syntax."""

from __future__ import annotations

from typing import Any, assert_never

from returns.result import Failure, Result, Success

from agent_memory.domain.installing.wanted import Element, Member, Syntax
from agent_memory.formats.entry_values import Spot
from agent_memory.formats.jsonc import parse_jsonc
from agent_memory.formats.jsonc_cut import cut_json, is_bare_json
from agent_memory.formats.jsonc_put import put_json
from agent_memory.formats.toml_edit import cut_toml, parse_toml, put_toml
from agent_memory.formats.yaml_edit import cut_yaml, parse_yaml, put_yaml


def text_of(data: bytes) -> Result[str, str]:
    """The text of a settings file; in words why it is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Failure(f"it is not UTF-8 text (byte {error.start})")
    return Failure("it holds the character \\0") if "\0" in text else Success(text)


def parse_settings(text: str, syntax: Syntax) -> Result[Any, str]:
    """The document's value; None for an empty one."""
    match syntax:
        case "jsonc":
            return parse_jsonc(text).map(lambda node: None if node is None else node.value)
        case "toml":
            return parse_toml(text)
        case "yaml":
            return parse_yaml(text)
        case "whole":
            return Success(text)
        case _ as never:
            assert_never(never)


def put(text: str, entry: Spot, syntax: Syntax) -> Result[str, str]:
    """The document with the entry in it; in words why it cannot hold it."""
    match syntax:
        case "jsonc":
            return put_json(text, entry)
        case "toml":
            return put_toml(text, _member(entry))
        case "yaml":
            return put_yaml(text, _member(entry))
        case _:
            raise TypeError(f"no entry can be put into a file that is {syntax}")


def cut(text: str, entry: Spot, syntax: Syntax, baseline: str | None) -> Result[str, str]:
    """The document without the entry; `baseline` is what it was before."""
    match syntax:
        case "jsonc":
            return cut_json(text, entry, baseline)
        case "toml":
            return cut_toml(text, _member(entry), baseline)
        case "yaml":
            return cut_yaml(text, _member(entry), baseline)
        case _:
            raise TypeError(f"no entry can be cut out of a file that is {syntax}")


def is_bare(text: str, syntax: Syntax) -> bool:
    """Whether a document holds nothing at all, not even a comment."""
    return is_bare_json(text) if syntax == "jsonc" else not text.strip()


def _member(entry: Spot) -> Member:
    if isinstance(entry, Element):
        raise TypeError("lists are edited in JSON only")
    return entry
