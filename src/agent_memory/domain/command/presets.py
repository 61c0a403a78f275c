"""The built-in presets: how each vendor's command answers a piped prompt with its tools, hooks and session files off.

Sources: the command-line references and sources of each vendor. A preset is data; nothing here runs anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

BUILTIN = "builtin"
"""The preset without a command: the built-in extractor."""

PRIVATE_DIRECTORY = "{private}"
"""Stands, in `env`, for the private directory in which an agent command runs."""


@frozen
class Preset:
    """One agent command. `argv` is never seen by a shell."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict[str, str])
    input: Literal["stdin", "argument"] = "stdin"
    """Where the prompt goes; as an argument it is the last one."""
    model_argv: tuple[str, ...] = ()
    """Put before a model's name when `llm.model` is set, both after the first `model_at` elements of `argv`."""
    model_at: int = 1
    model_required: bool = False
    variables: tuple[str, ...] = ()
    """The documented variables of the vendor that are passed on when they are set: logins, endpoints, own directories."""
    files: Mapping[str, str] = field(factory=dict[str, str])
    """Name and text of files written to the private directory first."""
    keeps_tools: bool = False
    """Its tools cannot be switched off, so that it runs only with `llm.allowTools`."""

    def with_model(self, model: str | None) -> tuple[str, ...]:
        """The argv with the model's name put in; unchanged without one."""
        if model is None:
            return self.argv
        return (*self.argv[: self.model_at], *self.model_argv, model, *self.argv[self.model_at :])


_ANTHROPIC = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
_OPENAI = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT")
_GOOGLE = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")
_GOOGLE_LOGIN = ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_USE_VERTEXAI")
_BEDROCK = ("AWS_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_ANY_PROVIDER = (
    *_ANTHROPIC,
    *_OPENAI,
    *_GOOGLE,
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
)

_ALL = (
    Preset(
        name="claude",
        argv=(
            *("claude", "-p", "--output-format", "text", "--tools", "", "--strict-mcp-config"),
            *("--no-session-persistence", "--settings", '{"disableAllHooks":true}', "--max-turns", "1"),
        ),
        model_argv=("--model",),
        variables=(
            *(*_ANTHROPIC, *_BEDROCK, "ANTHROPIC_MODEL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_VERTEX_PROJECT_ID"),
            *("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"),
            *("AWS_BEARER_TOKEN_BEDROCK", "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS"),
        ),
    ),
    Preset(
        name="codex",
        argv=(
            *("codex", "exec", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only"),
            *("--ignore-user-config", "--ignore-rules", "-c", "features.hooks=false", "-"),
        ),
        model_argv=("-m",),
        model_at=2,
        variables=(*_OPENAI, "CODEX_HOME", "CODEX_API_KEY"),
    ),
    Preset(
        name="gemini",
        argv=("gemini", "-e", "none", "--approval-mode", "plan", "--skip-trust", "-o", "text"),
        env={"GEMINI_CLI_SYSTEM_SETTINGS_PATH": f"{PRIVATE_DIRECTORY}/gemini-settings.json"},
        model_argv=("-m",),
        variables=(*_GOOGLE, *_GOOGLE_LOGIN, "GEMINI_MODEL", "GEMINI_CLI_HOME"),
        files={"gemini-settings.json": '{"hooksConfig": {"enabled": false}}\n'},
    ),
    Preset(
        name="copilot",
        argv=(
            "copilot",
            "-s",
            "--available-tools=",
            "--no-ask-user",
            "--no-custom-instructions",
            "--disable-builtin-mcps",
        ),
        model_argv=("--model",),
        variables=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_HOME", "COPILOT_MODEL", "GH_HOST"),
    ),
    Preset(
        name="opencode",
        argv=("opencode", "run", "--pure", "--title", "agent-memory"),
        env={"OPENCODE_PERMISSION": '{"*":"deny"}'},
        model_argv=("-m",),
        model_at=2,
        variables=(*_ANY_PROVIDER, "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"),
    ),
    Preset(
        name="pi",
        argv=(
            *("pi", "-p", "--no-session", "--no-tools", "--no-extensions", "--no-skills"),
            *("--no-context-files", "--no-prompt-templates"),
        ),
        model_argv=("--model",),
        variables=(*_ANY_PROVIDER, "PI_CODING_AGENT_DIR"),
    ),
    Preset(
        name="llm",
        argv=("llm", "-n", "--no-stream", "-R"),
        model_argv=("-m",),
        variables=(*_ANY_PROVIDER, "LLM_USER_PATH", "LLM_MODEL"),
    ),
    Preset(
        name="ollama",
        argv=("ollama", "run", "--nowordwrap", "--hidethinking", "--think=false"),
        model_at=2,
        model_required=True,
        variables=("OLLAMA_HOST", "OLLAMA_MODELS"),
    ),
    Preset(name="amp", argv=("amp", "-x"), variables=("AMP_API_KEY", "AMP_URL"), keeps_tools=True),
    Preset(
        name="cursor",
        argv=("cursor-agent", "-p", "--mode", "ask", "--output-format", "text", "--trust"),
        input="argument",
        model_argv=("--model",),
        variables=("CURSOR_API_KEY",),
        keeps_tools=True,
    ),
    Preset(
        name="goose",
        argv=("goose", "run", "--no-session", "-q", "-i", "-"),
        model_argv=("--model",),
        model_at=2,
        variables=(*_ANY_PROVIDER, "GOOSE_PROVIDER", "GOOSE_MODEL"),
        keeps_tools=True,
    ),
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _ALL}
"""Every built-in preset that runs a command, by its name; `builtin` runs none."""
