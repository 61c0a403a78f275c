"""The configuration: every key with its default, its meaning and its bounds. `None` means "decided at run time".

What a field's metadata says is used three times: to check a config file, in the published JSON schema, and in the table
of the documentation. JSON keys are the camelCase of the names here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from attrs import field, frozen
from returns.result import Failure

from agent_memory.note.note import Kind
from agent_memory.recall.assembling import SECTIONS

Check = Callable[[Any], "str | None"]
"""What is wrong with a value of the right type, or None."""

BUILTIN = "builtin"
"""The preset without a command: the built-in extractor."""


def _key(meaning: str, default: Any = None, **facts: Any) -> Any:
    """Declares a documented key. `facts`: `least`, `above`, `most` (numbers), `check` (of the value, or of each in a list),
    `check_name` (of each name in an object), `check_inner_name` (of those in the objects in it), `least_items`, `key` (where it
    is not the camelCase of the attribute)."""
    metadata = {"meaning": meaning, **facts}
    if callable(default):
        return field(factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def _argv_problem(command: str) -> str | None:
    import shlex  # since a whole config checks few of its keys

    try:
        argv = shlex.split(command)
    except ValueError as error:
        return f"cannot be split into arguments: {str(error).lower()}"
    return None if argv and argv[0].strip() else "must name a command"


def _not_blank(text: str) -> str | None:
    return None if text.strip() else "must not be empty"


def _commit_problem(command: str) -> str | None:
    from agent_memory.rules.commit_message import parse_command_template

    parsed = parse_command_template(command)
    return parsed.failure() if isinstance(parsed, Failure) else None


def _matching(pattern: str, expected: str) -> Check:
    return lambda value: None if re.fullmatch(pattern, value, re.ASCII) else f"must be {expected}"


_variable_name = _matching(r"[A-Za-z_][A-Za-z0-9_]{0,199}", "an environment variable's name (letters, digits, _)")
_preset_name = _matching(r"(?!builtin$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}", "a plain name other than builtin")
_section_name = _matching("|".join(SECTIONS), f"one of {', '.join(SECTIONS)}")
_kind_name = _matching("|".join(Kind), f"one of {', '.join(Kind)}")
_profile_name = _matching(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", "a plain name (letters, digits, . _ -)")


@frozen
class StorageConfig:
    root: str | None = _key("Where the memories are kept; null: see the order of roots above.", check=_not_blank)
    auto_commit: bool = _key("Record every change in the root's own git repository.", True)
    commit_hook: str = _key(
        "Template of the commit command, as arguments; no shell sees it.",
        "git commit --trailer 'Thread-Id: {threadId}'",
        check=_commit_problem,
    )
    keep_histories: bool = _key("Keep the redacted history of every consolidated session.", True)
    history_cap_mib: int = _key(
        "Size of all kept histories, in MiB; the oldest go first.", 512, least=0, key="historyCapMiB"
    )


@frozen
class PresetConfig:
    """How to call an agent command: `input` says whether the prompt goes to stdin or is the last argument."""

    argv: tuple[str, ...] = field(
        metadata={"meaning": "The command and its arguments; no shell sees them.", "least_items": 1}
    )
    env: dict[str, str] = _key("Variables set for it.", dict, check_name=_variable_name)
    input: Literal["stdin", "argument"] = _key("Where the prompt goes; `argument`: the last one.", "stdin")


@frozen
class LlmConfig:
    command: str | None = _key(
        "The agent command, split like a shell would and run without one; wins over `preset`.", check=_argv_problem
    )
    preset: str = _key("`builtin` (no LLM), a built-in preset, or a name from `presets`.", BUILTIN, check=_not_blank)
    presets: dict[str, PresetConfig | str] = _key(
        "Presets of your own by name: a command, or `{argv, env, input}`.",
        dict,
        check_name=_preset_name,
        check=_argv_problem,
    )
    model: str | None = _key("The model a built-in preset is asked for; `ollama` needs one.", check=_not_blank)
    allow_tools: bool = _key("Allow the presets whose tools cannot be switched off (`amp cursor goose`).", False)
    pass_env: tuple[str, ...] = _key(
        "Names of further variables that the agent command is given.", (), check=_variable_name
    )
    timeout_seconds: float = _key("How long one call may take.", 300, above=0, most=86_400)
    max_calls_per_day: int = _key("Calls a day (UTC) at most.", 48, least=0)
    max_prompt_chars: int = _key("Characters of one prompt at most.", 120_000, least=10_000, most=8_000_000)


@frozen
class ScheduleConfig:
    consolidate_interval_hours: float = _key("Hours between two scheduled consolidations.", 2, above=0, most=8_760)
    defrag_interval_hours: float = _key("Hours between two scheduled defrags.", 24, above=0, most=8_760)


@frozen
class AgentsMdConfig:
    targets: tuple[str, ...] = _key("Files that hold a managed section.", (), check=_not_blank)
    hot_chars: int = _key("Characters of the notes shown whole there.", 6_000, least=0)
    warm_lines: int = _key("Lines of the notes listed there.", 60, least=0)


@frozen
class CaptureConfig:
    transcript_roots: tuple[str, ...] = _key(
        "Further directories that transcripts may be read from.", (), check=_not_blank
    )


def _pattern_problem(pattern: str) -> str | None:
    from agent_memory.capture.switches import pattern_problem  # since most configs have none

    return pattern_problem(pattern)


@frozen
class ProjectsConfig:
    exclude: tuple[str, ...] = _key(
        "Projects that memory stays out of: globs on directories (`~/clients/*`) and on repositories' keys (`github.com/me/*`).",
        (),
        check=_pattern_problem,
    )
    only: tuple[str, ...] = _key(
        "If there are any, memory stays out of all other projects; globs as in `exclude`, which wins.",
        (),
        check=_pattern_problem,
    )


@frozen
class InjectConfig:
    token_budget: int = _key(
        "Tokens of an injected context at most; 0: nothing is injected.", 2_000, least=0, most=50_000
    )
    profiles: dict[str, dict[str, int]] = _key(
        "Profiles of your own: `{profile: {section: tokens}}`, a section being one of " + " ".join(SECTIONS) + ".",
        dict,
        check_name=_profile_name,
        check_inner_name=_section_name,
        least=0,
    )


@frozen
class McpConfig:
    trusted_clients: tuple[str, ...] = _key(
        "Names of MCP clients whose notes count as an agent's; others' are external.", (), check=_not_blank
    )


def _hold_out_problem(every: int) -> str | None:
    return "must be 0, or 2 or more" if every == 1 else None


@frozen
class EvalConfig:
    hold_out: int = _key(
        "One session in so many is told no note, so that `memory eval --hold-out` can compare; 0: none.",
        0,
        least=0,
        most=1_000,
        check=_hold_out_problem,
    )


@frozen
class ReviewConfig:
    before: bool = _key(
        "Whether sessions are told of a new note only once you have approved it (`memory review`).", False
    )


@frozen
class LimitsConfig:
    max_entries: int | None = _key("Live notes at most; null: no limit.", least=1)
    max_chars: int | None = _key("Characters of all live notes at most; null: no limit.", least=1)
    max_by_kind: dict[str, int] = _key(
        "Live notes of a kind at most: `{kind: number}`.", dict, check_name=_kind_name, least=1
    )
    similarity: float = _key(
        "The share of its words that a new note must have in common with another to be on the same subject.",
        0.65,
        above=0,
        most=1,
    )
    handoff_days: int = _key("Days after which a handoff expires.", 7, least=1)
    stale_days: int = _key("Days without use or change after which a note counts as stale.", 120, least=1)


@frozen
class Config:
    storage: StorageConfig = _key("Where and how memories are kept.", StorageConfig)
    llm: LlmConfig = _key("The agent command.", LlmConfig)
    schedule: ScheduleConfig = _key("Scheduled runs.", ScheduleConfig)
    agents_md: AgentsMdConfig = _key("The managed section.", AgentsMdConfig)
    capture: CaptureConfig = _key("Capture.", CaptureConfig)
    projects: ProjectsConfig = _key(
        "Which projects memory knows. Counts in your own config file alone.", ProjectsConfig
    )
    inject: InjectConfig = _key("What is injected into a session.", InjectConfig)
    mcp: McpConfig = _key("The MCP server.", McpConfig)
    review: ReviewConfig = _key("What waits for you.", ReviewConfig)
    eval: EvalConfig = _key("Whether memory helps.", EvalConfig)
    limits: LimitsConfig = _key("Caps and ages.", LimitsConfig)


OPEN_SECTIONS = ("inject",)
"""What a config in the current directory may set without being trusted."""


def preset_problem(llm: LlmConfig) -> str | None:
    """Returns what is wrong with the choice of preset, where no command is set: an unknown name, or a missing model."""
    if llm.command is not None or llm.preset in (BUILTIN, *llm.presets):
        return None
    from agent_memory.presets import PRESETS

    preset = PRESETS.get(llm.preset)
    if preset is None:
        return f"llm.preset is unknown; there are {', '.join(sorted({BUILTIN, *PRESETS, *llm.presets}))}"
    if preset.model_required and llm.model is None:
        return f"llm.model is missing, and the preset {preset.name} needs one"
    return None
