"""The environments of agents: what ours gets to see, and by what we see that one of them is calling us (P21, P23)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_memory.files.root import DEPTH_VARIABLE
from agent_memory.note.note import Caller
from agent_memory.note.vocabulary import Harness

HARNESS_VARIABLES: Mapping[str, Harness] = {
    "CLAUDE_CODE_CHILD_SESSION": Harness.CLAUDE_CODE,
    "CODEX_THREAD_ID": Harness.CODEX,
    "CODEX_SANDBOX": Harness.CODEX,
    "CODEX_SANDBOX_NETWORK_DISABLED": Harness.CODEX,
    "CURSOR_AGENT": Harness.CURSOR,
    "AMP_CURRENT_THREAD_ID": Harness.AMP,
    "GEMINI_CLI": Harness.GEMINI,
    "OPENCODE": Harness.OPENCODE,
    "COPILOT_AGENT_SESSION_ID": Harness.COPILOT,
    "COPILOT_CLI": Harness.COPILOT,
    "PI_CODING_AGENT": Harness.PI,
    "GOOSE_TERMINAL": Harness.GOOSE,
}
"""Variables that a harness sets only in the processes its agent starts. Names are exact: `CLAUDECODE`, `CURSOR_TRACE_ID`,
`GEMINI_CLI_IDE_SERVER_PORT` and the like are also set in a person's own terminal inside an editor."""

ALLOWED_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
)
"""What every agent command is given of our environment, besides `ALLOWED_PREFIXES` and its preset's own variables."""

ALLOWED_PREFIXES = ("LC_", "XDG_")


def depth_of(environ: Mapping[str, str]) -> int:
    """Returns how many of our agent commands we are inside of; a value that is no number counts as 1."""
    value = environ.get(DEPTH_VARIABLE, "").strip()
    if not value:
        return 0
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 1


def caller_of(environ: Mapping[str, str]) -> Caller:
    """Who is calling, as the variables of the environment tell: an agent that a harness or one of our own commands started, else
    a person. A child that scrubs its environment is not seen."""
    for variable, harness in HARNESS_VARIABLES.items():
        if environ.get(variable):
            return Caller(harness, variable)
    return Caller(variable=DEPTH_VARIABLE if depth_of(environ) > 0 else None)


def child_environment(
    environ: Mapping[str, str], passed: Iterable[str], preset_env: Mapping[str, str]
) -> dict[str, str]:
    """Returns the whole environment of an agent command: the allow-list, the names in `passed`, what the preset sets, and the
    depth, which nothing can override."""
    wanted = {*ALLOWED_VARIABLES, *passed}
    kept = {name: value for name, value in environ.items() if name in wanted or name.startswith(ALLOWED_PREFIXES)}
    return kept | dict(preset_env) | {DEPTH_VARIABLE: str(depth_of(environ) + 1)}
