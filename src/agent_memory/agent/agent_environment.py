"""The environment of an agent command (P21, P23)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_memory.caller import depth_of
from agent_memory.files.root import DEPTH_VARIABLE

ALLOWED_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
)
"""The variables of our environment that every agent command gets, besides `ALLOWED_PREFIXES` and its preset's own."""

ALLOWED_PREFIXES = ("LC_", "XDG_")


def child_environment(
    environ: Mapping[str, str], passed: Iterable[str], preset_env: Mapping[str, str]
) -> dict[str, str]:
    """Returns the whole environment of an agent command: the allow-list, the names in `passed`, the preset's values,
    and the depth, which nothing can override."""
    wanted = {*ALLOWED_VARIABLES, *passed}
    kept = {name: value for name, value in environ.items() if name in wanted or name.startswith(ALLOWED_PREFIXES)}
    return kept | dict(preset_env) | {DEPTH_VARIABLE: str(depth_of(environ) + 1)}
