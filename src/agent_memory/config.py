"""The configuration: every key of design §7 with its default. `None` means "decided at run time"."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen


@frozen
class StorageConfig:
    root: str | None = None
    auto_commit: bool = True
    commit_hook: str = "git commit --trailer 'Thread-Id: {threadId}'"
    keep_histories: bool = True
    history_cap_mib: int = 512


@frozen
class PresetConfig:
    """How to call an agent command: `input` says whether the prompt goes to stdin or is the last argument."""

    argv: tuple[str, ...]
    env: dict[str, str] = field(factory=dict)
    input: Literal["stdin", "argument"] = "stdin"


@frozen
class LlmConfig:
    command: str | None = None
    preset: str = "builtin"
    presets: dict[str, PresetConfig | str] = field(factory=dict)
    allow_tools: bool = False
    pass_env: tuple[str, ...] = ()
    timeout_seconds: float = 300
    max_calls_per_day: int = 48
    max_prompt_chars: int = 120_000


@frozen
class ScheduleConfig:
    consolidate_interval_hours: float = 2
    defrag_interval_hours: float = 24


@frozen
class AgentsMdConfig:
    targets: tuple[str, ...] = ()
    hot_chars: int = 6_000
    warm_lines: int = 60


@frozen
class CaptureConfig:
    transcript_roots: tuple[str, ...] = ()


@frozen
class SearchConfig:
    """No keys yet."""


@frozen
class InjectConfig:
    token_budget: int = 2_000
    profiles: dict[str, dict[str, int]] = field(factory=dict)


@frozen
class McpConfig:
    trusted_clients: tuple[str, ...] = ()


@frozen
class LimitsConfig:
    max_entries: int | None = None
    max_chars: int | None = None
    handoff_days: int = 7
    stale_days: int = 120


@frozen
class Config:
    """The effective configuration. JSON keys are the camelCase of these names."""

    storage: StorageConfig = StorageConfig()
    llm: LlmConfig = LlmConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    agents_md: AgentsMdConfig = AgentsMdConfig()
    capture: CaptureConfig = CaptureConfig()
    search: SearchConfig = SearchConfig()
    inject: InjectConfig = InjectConfig()
    mcp: McpConfig = McpConfig()
    limits: LimitsConfig = LimitsConfig()
