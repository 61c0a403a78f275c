"""The agent commands: the built-in presets (how each vendor's command answers a piped prompt with its tools, hooks and
session files off), and the messages by which such a command says that it cannot serve now (P9).

The presets follow the vendors' command-line references and sources. A preset is data; nothing here runs anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from attrs import field, frozen

PRIVATE_DIRECTORY = "{private}"
"""A placeholder in `env` for the private directory in which an agent command runs."""


@frozen
class Preset:
    """An agent command. `argv` never passes through a shell."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict[str, str])
    input: Literal["stdin", "argument"] = "stdin"
    """How the prompt is passed; as an argument it is the last one."""
    model_argv: tuple[str, ...] = ()
    """Precedes the model's name when `llm.model` is set; both follow the first `model_at` elements of `argv`."""
    model_at: int = 1
    model_required: bool = False
    variables: tuple[str, ...] = ()
    """The vendor's documented variables that are passed on if set: logins, endpoints, own directories."""
    files: Mapping[str, str] = field(factory=dict[str, str])
    """Names and texts of files to write to the private directory first."""
    keeps_tools: bool = False
    """True if its tools cannot be switched off, so that it runs only with `llm.allowTools`."""

    def with_model(self, model: str | None) -> tuple[str, ...]:
        if model is None:
            return self.argv
        return (*self.argv[: self.model_at], *self.model_argv, model, *self.argv[self.model_at :])


_ANTHROPIC = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
_OPENAI = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT")
_GOOGLE = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")
_GOOGLE_LOGIN = ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_USE_VERTEXAI")
_BEDROCK = ("AWS_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
ANY_PROVIDER = (
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
        variables=(*ANY_PROVIDER, "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"),
    ),
    Preset(
        name="pi",
        argv=(
            *("pi", "-p", "--no-session", "--no-tools", "--no-extensions", "--no-skills"),
            *("--no-context-files", "--no-prompt-templates"),
        ),
        model_argv=("--model",),
        variables=(*ANY_PROVIDER, "PI_CODING_AGENT_DIR"),
    ),
    Preset(
        name="llm",
        argv=("llm", "-n", "--no-stream", "-R"),
        model_argv=("-m",),
        variables=(*ANY_PROVIDER, "LLM_USER_PATH", "LLM_MODEL"),
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
        variables=(*ANY_PROVIDER, "GOOSE_PROVIDER", "GOOSE_MODEL"),
        keeps_tools=True,
    ),
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _ALL}
"""Every built-in preset that runs a command, by its name; `builtin` runs none."""


# -- messages that it cannot serve now ---------------------------------------------------------------------------------


MESSAGE_MAX_CHARS = 600
"""A reply longer than this is an answer, whatever it says."""

_PHRASES: Mapping[str, tuple[str, ...]] = {
    "login": (
        r"please (?:run|use) (?:\S+ ){0,3}[`'\"]?/?(?:\S+ )?(?:auth |setup-)?(?:log ?in|token)",
        r"please (?:re-?)?(?:log|sign) ?in",
        r"please (?:re-?)?authenticate",
        r"(?:you are |you're |you’re )?not (?:logged|signed) in",
        r"(?:you )?(?:need|must|have) to (?:be )?(?:log|sign)(?:ged|ed)? ?in",
        r"(?:login|authentication|sign-?in) (?:is )?(?:required|failed|error|expired)",
        r"(?:your )?(?:session|token|login|credentials?|oauth token)(?: has| have| is| are)?(?: been)? (?:expired|revoked|invalid)",
        r"(?:invalid|missing|incorrect|expired|no) (?:api|x-api-key|access|auth|authentication|bearer|oauth)[ _-]?(?:key|token|credentials?)",
        r"no (?:api )?(?:key|credentials?) (?:found|set|configured|provided)",
        r"unauthori[sz]ed\b",
        r"failed to authenticate",
    ),
    "quota": (
        r"(?:your )?credit balance is too low",
        r"insufficient[ _](?:quota|credits?|balance|funds)",
        r"you(?:'ve|’ve| have)? exceeded your (?:current )?quota",
        r"quota (?:exceeded|exhausted)",
        r"(?:you(?:'re|’re| are) )?out of (?:free )?(?:credits|quota|extra usage)",
        r"billing (?:hard )?limit",
        r"payment required",
    ),
    "rate-limit": (
        r"(?:you(?:'ve|’ve| have)? )?(?:hit|reached|exceeded) (?:your|the)(?: \S+){0,3} limit",
        r"(?:\S+ )?(?:usage|rate|session|weekly|5-hour|request)s?[ -]limit(?:s|ed)?\b",
        r"too many requests",
        r"rate_limit_error",
        r"limit reached",
        r"resource[_ ](?:has been )?exhausted",
        r"overloaded(?:_error)?\b",
        r"(?:the )?(?:server|model|api|service) is (?:currently |temporarily )?overloaded",
    ),
    "network": (
        r"(?:unable|failed|could not|couldn't|cannot|can't) (?:to )?(?:connect|reach|resolve|establish)",
        r"fetch failed",
        r"connection (?:error|refused|reset|timed out|failed|closed)",
        r"network (?:error|is unreachable|unreachable)",
        r"getaddrinfo",
        r"name or service not known",
        r"temporary failure in name resolution",
        r"request timed out",
        r"(?:service|gateway)(?: is)?(?: temporarily)? (?:unavailable|timeout)",
        r"bad gateway",
        r"internal server error",
        r"no internet",
    ),
    "config": (
        r"(?:unknown|invalid|unsupported|no such) model",
        r"(?:your |the )?(?:prompt|input|message) is too long",
        r"(?:maximum |the )?context (?:length|window)(?: exceeded| limit|'s)",
        r"model \S+ (?:was )?(?:not found|not supported|does not exist|is not available)",
        r"(?:unknown|unrecogni[sz]ed|unexpected|no such) (?:option|argument|flag)s?\b",
    ),
}

_STATUS = r"\b(?:status|code|http(?:/[\d.]+)?|error)[\s:=(\"']{1,3}(?:code[\s:=]{1,2})?"

_SIGNS: Mapping[str, tuple[str, ...]] = {
    "login": (
        _STATUS + r"40[13]\b",
        "unauthenticated",
        "permission_denied",
        "auth(?:entication)?_error",
        "invalid_api_key",
        r"[`'\"]/login\b",
    ),
    "quota": (_STATUS + r"402\b", "insufficient_quota"),
    "rate-limit": (_STATUS + r"[45]29\b", "throttling", "throttled"),
    "network": (
        _STATUS + r"50[0234]\b",
        r"\bE(?:CONN(?:REFUSED|RESET|ABORTED)|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH)\b",
        "dial tcp",
    ),
}

_STATUSES = {
    401: "login",
    402: "quota",
    403: "login",
    429: "rate-limit",
    529: "rate-limit",
    **dict.fromkeys(range(500, 505), "network"),
}

_STATUS_LINE = re.compile(r"\W*(?:api |http |request )?error\b[\s:(]*(\d{3})\b", re.IGNORECASE)
_LEAD = r"\W*(?:(?:api |fatal |request )?error\b\W*)?"


@cache
def _patterns(lead: str = "") -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Returns a pattern for each cause: of the phrases, all beginning with `lead`, or without one of phrases and signs.
    Compiled only once a command has answered: it takes longer than most commands."""
    causes = _PHRASES.items() if lead else (*_PHRASES.items(), *_SIGNS.items())
    return tuple((cause, re.compile(f"{lead}(?:{'|'.join(phrases)})", re.IGNORECASE)) for cause, phrases in causes)


def message_cause(reply: str) -> str | None:
    """Returns why the command cannot serve now (`login quota rate-limit network config`) if its whole reply is a
    message that says so. None for a possible answer: anything long, or with a brace and no error status before it."""
    text = reply.strip()
    if len(text) > MESSAGE_MAX_CHARS:
        return None
    if status := _STATUS_LINE.match(text):
        return _STATUSES.get(int(status[1]))
    if "{" in text:
        return None
    return next((cause for cause, pattern in _patterns(_LEAD) if pattern.match(text)), None)


def failure_cause(printed: str) -> str | None:
    """Returns why a failed command cannot serve now, if anything that it printed is a sign of it."""
    return next((cause for cause, pattern in _patterns() if pattern.search(printed)), None)
