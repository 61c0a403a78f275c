"""The documentation of the configuration is what the code says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent_memory.config import Config
from agent_memory.formats.json_codec import written
from agent_memory.surfaces.cli.settings import config_schema_text, key_rows

DOCS = Path(__file__).parents[2] / "docs"


def test_every_key_has_a_meaning_and_a_bar_breaks_no_table() -> None:
    rows = list(key_rows(Config))
    assert len(rows) > 20
    assert all(meaning.endswith(".") and "|" not in meaning for _, _, _, meaning in rows)


def test_the_defaults_of_the_schema_are_the_defaults_of_the_code() -> None:
    def defaults(schema: dict[str, Any]) -> Any:
        if "default" in schema or "properties" not in schema:
            return schema.get("default")
        return {key: defaults(each) for key, each in schema["properties"].items() if key != "$schema"}

    assert defaults(json.loads(config_schema_text())) == written(Config())
