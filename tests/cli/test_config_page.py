"""The documentation of the configuration is what the code says."""

from __future__ import annotations

import json
from typing import Any

from agent_memory.config import Config
from agent_memory.prompt.shipped_files import read_shipped
from agent_memory.text.json_codec import written

SCHEMA = json.loads(read_shipped("docs/config.schema.json"))


def test_every_key_has_a_meaning_and_a_bar_breaks_no_table() -> None:
    def meanings(schema: dict[str, Any]) -> list[str]:
        keys = [each for key, each in schema.get("properties", {}).items() if key != "$schema"]
        return [each["description"] for each in keys] + [text for each in keys for text in meanings(each)]

    found = meanings(SCHEMA)
    assert len(found) > 20
    assert all(meaning.endswith(".") and "|" not in meaning for meaning in found)


def test_the_defaults_of_the_schema_are_the_defaults_of_the_code() -> None:
    def defaults(schema: dict[str, Any]) -> Any:
        if "default" in schema or "properties" not in schema:
            return schema.get("default")
        return {key: defaults(each) for key, each in schema["properties"].items() if key != "$schema"}

    assert defaults(SCHEMA) == written(Config())
