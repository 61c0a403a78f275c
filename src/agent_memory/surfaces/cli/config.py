"""`memory config`."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Iterator
from typing import Any

from agent_memory.adapters.agent.chosen_command import REDACTED, is_secret_name, shown_command, shown_words
from agent_memory.adapters.surroundings.config_files import Effective, load_config
from agent_memory.adapters.surroundings.root import config_path, home_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import HomeUnknown
from agent_memory.formats.config_values import document_of
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import current_directory
from agent_memory.surfaces.config_page import config_page, config_schema_text
from agent_memory.surfaces.console import Console

_SHOWN_CHARS = 400
_COLUMN_CHARS = 48
"""Longer values are not cut for the sake of the columns."""


def configure(parser: argparse.ArgumentParser) -> None:
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--path", action="store_true", help="print the path of your own config file, there or not")
    shown.add_argument("--schema", action="store_true", help="print the JSON schema of a config file")
    shown.add_argument("--markdown", action="store_true", help="print the documentation of all keys")
    parser.epilog = "Values that look like secrets are not shown."


def run(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.schema:
        console.stdout.write(config_schema_text())
        return 0
    if arguments.markdown:
        console.stdout.write(config_page())
        return 0
    if arguments.path:
        return _show_path(console)
    effective = unwrap(load_config(os.environ, current_directory()))
    for warning in effective.warnings:
        console.err(f"memory: {warning}")
    _show(effective, console)
    return 0


def _show_path(console: Console) -> int:
    home = home_of(os.environ)
    if home is None:
        return console.fail(HomeUnknown())
    console.document({"path": config_path(home)})
    console.out(config_path(home))
    return 0


def _show(effective: Effective, console: Console) -> None:
    document = _without_secrets(document_of(effective.config))
    rows = [(key, value, effective.source_of(key)) for key, value in _leaves(document)]
    console.document({"config": document, "sources": {key: source for key, _, source in rows}})
    shown = [
        (key, one_line(json.dumps(value, ensure_ascii=False), _SHOWN_CHARS), source) for key, value, source in rows
    ]
    widths = [min(_COLUMN_CHARS, max(len(row[column]) for row in shown)) for column in (0, 1)]
    for key, value, source in shown:
        console.out(f"{key:{widths[0]}}  {value:{widths[1]}}  {_from_home(source)}")


def _leaves(document: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Every key with its value, down to single presets and profiles."""
    for key, value in document.items():
        where = f"{path}{key}"
        is_section = not path or where in ("llm.presets", "inject.profiles")
        if is_object(value) and is_section and value:
            yield from _leaves(value, f"{where}.")
        elif path:
            yield where, value


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return _shown_text(value)
    if is_list(value):
        words = [each for each in value if isinstance(each, str)]
        return list(shown_words(words)) if len(words) == len(value) else list(map(_without_secrets, value))
    if is_object(value):
        return {key: _shown_value(key, each) for key, each in value.items()}
    return value


def _shown_text(value: str) -> str:
    """A text, which may be a command."""
    try:
        words = shlex.split(value)
    except ValueError:
        words = []
    return redact(value).text if list(shown_words(words)) == words else shown_command(words)


def _shown_value(name: str, value: Any) -> Any:
    """A value as it may be shown: what a variable with a telling name holds is a secret, whatever it looks like."""
    if isinstance(value, str) and is_secret_name(name):
        return REDACTED
    return _without_secrets(value)


def _from_home(source: str) -> str:
    home = home_of(os.environ)
    return f"~{source[len(home) :]}" if home and source.startswith(f"{home}/") else source
