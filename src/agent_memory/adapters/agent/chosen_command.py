"""Which agent command the configuration asks for."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence

from attrs import evolve

from agent_memory.config import LlmConfig, PresetConfig, preset_problem
from agent_memory.domain.command import BUILTIN, PRESETS, Preset
from agent_memory.domain.redaction import redact
from agent_memory.errors import ConfigInvalid, PresetRefused
from agent_memory.results import as_result

_SOURCE = "llm"
"""Stands for the path of a config that was made by a program and not read from a file."""

REDACTED = "[redacted]"
_SECRET_NAME = re.compile(
    r"(?:^|[_-]|(?<=[a-z])(?=[A-Z]))(?i:api)?(?i:key|token|secret|password|passwd|passphrase|auth|credentials?|cookie)"
    r"(?:$|[_-]|(?=[A-Z]))"
)


def is_secret_name(name: str) -> bool:
    """Whether what a variable or option of this name holds is a secret, whatever it looks like."""
    return _SECRET_NAME.search(name) is not None


def shown_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a command as they may be shown: without what redaction finds, and without the values of variables and
    options with telling names."""
    return tuple(f"{redact(told).text}{REDACTED if secret else ''}" for told, secret in _told_and_secret(words))


def shown_command(words: Sequence[str]) -> str:
    shown = shown_words(words)
    return redact(" ".join(each if REDACTED in each else shlex.quote(each) for each in shown)).text


def secrets_of(command: Preset) -> tuple[str, ...]:
    """The values that a command line and its variables hold under telling names."""
    named = (value for name, value in command.env.items() if is_secret_name(name))
    return tuple(filter(None, (*(secret for _, secret in _told_and_secret(command.argv)), *named)))


def _told_and_secret(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    is_value = False
    for word in words:
        name, equals, value = word.partition("=")
        if is_value and not word.startswith("-"):
            yield "", word
        elif equals and is_secret_name(name):
            yield f"{name}=", value
        else:
            yield word, ""
        is_value = not equals and word.startswith("-") and is_secret_name(word)


def uses_builtin(llm: LlmConfig) -> bool:
    """Whether the built-in extractor is asked for: no command is to be run at all."""
    return llm.command is None and llm.preset == BUILTIN


@as_result
def choose_command(llm: LlmConfig, home: str | None = None) -> Preset:
    """The command that `llm` asks for; a program's error where it asks for the built-in one (see `uses_builtin`).

    As in a shell, `~/` at the start of a word of `llm.command` or of a one-line preset is the home. Nothing else is
    expanded. A relative path to a program is refused: the command runs in a directory of its own.
    """
    where = f"llm.presets.{llm.preset}" if llm.command is None else "llm.command"
    own = llm.presets.get(llm.preset) if llm.command is None else llm.command
    if own is None:
        if problem := preset_problem(llm):
            raise ConfigInvalid(_SOURCE, (problem,))
        preset = PRESETS[llm.preset]
        if preset.keeps_tools and not llm.allow_tools:
            raise PresetRefused(preset.name)
        return evolve(preset, argv=preset.with_model(llm.model), variables=(*preset.variables, *llm.pass_env))
    if isinstance(own, PresetConfig):
        command = Preset(llm.preset, own.argv, dict(own.env), own.input, variables=llm.pass_env)
    else:
        try:
            words = shlex.split(own)
        except ValueError as error:
            problem = f"{where}: cannot be split into arguments: {str(error).lower()}"
            raise ConfigInvalid(_SOURCE, (problem,)) from None
        argv = tuple(f"{home}{word[1:]}" if home is not None and word.startswith("~/") else word for word in words)
        digest = hashlib.sha256(json.dumps(argv).encode()).hexdigest()[:8]
        command = Preset(llm.preset if llm.command is None else f"command:{digest}", argv, variables=llm.pass_env)
    program = command.argv[0] if command.argv else ""
    if not program.strip():
        raise ConfigInvalid(_SOURCE, (f"{where}: must name a command",))
    if "/" in program and not os.path.isabs(program):
        problem = f"{where}: {shown_command((program,))} is relative, and the command runs in a directory of its own; write the whole path"
        raise ConfigInvalid(_SOURCE, (problem,))
    return command
