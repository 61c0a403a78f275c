"""The list of trusted configs as text: `{"version": 1, "configs": [{"path": …, "sha256": …, "trustedAt": "2026-…Z"}]}`."""

from __future__ import annotations

import json
import re

from returns.result import Failure, Result, Success

from agent_memory.domain.command.trusted_config import TrustedConfig
from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_document import parse_strict_json
from agent_memory.results import sealed

VERSION = 1
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


def render_trust(trusted: tuple[TrustedConfig, ...]) -> str:
    """JSON, in the order given."""
    configs = [{"path": each.path, "sha256": each.sha256, "trustedAt": iso_of(each.trusted_at_ms)} for each in trusted]
    return json.dumps({"version": VERSION, "configs": configs}, indent=1) + "\n"


def parse_trust(data: bytes, path: str) -> Result[tuple[TrustedConfig, ...], StateCorrupt]:
    """What `render_trust` wrote; anything else is StateCorrupt."""
    match sealed(parse_strict_json(data)):
        case Failure(problem):
            return Failure(StateCorrupt(path, (problem,)))
        case Success(document):
            trusted = _trusted(document)
            if trusted is None:
                return Failure(StateCorrupt(path, (f"it is not a list of trusted configs of version {VERSION}",)))
            return Success(trusted)


def _trusted(document: object) -> tuple[TrustedConfig, ...] | None:
    if not is_object(document) or document.get("version") != VERSION or not is_list(document.get("configs")):
        return None
    found = tuple(_one(each) for each in document["configs"])
    return None if None in found else tuple(each for each in found if each is not None)


def _one(record: object) -> TrustedConfig | None:
    if not is_object(record):
        return None
    path, sha256, at = (record.get(key) for key in ("path", "sha256", "trustedAt"))
    if (
        not isinstance(path, str)
        or not isinstance(sha256, str)
        or not isinstance(at, str)
        or not _SHA256.fullmatch(sha256)
    ):
        return None
    at_ms = ms_of(at)
    return None if at_ms is None else TrustedConfig(path, sha256, at_ms)
