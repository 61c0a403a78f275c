"""Goose (1.38 and later): a plugin directory with `hooks/hooks.json` in Claude's shape; no matcher, since `*` alone is no
regular expression there and kills the rule. (aaif-goose/goose: documentation/docs)"""

from __future__ import annotations

import json

from agent_memory.domain.installing.ground import SERVER_NAME, Ground
from agent_memory.domain.installing.hook_groups import grouped_hooks
from agent_memory.domain.installing.skill import skill_file
from agent_memory.domain.installing.wanted import DIRECTORY, SESSION, HarnessSetup, Member, Part, Play, Wanted, Whole

NAME = "goose"


def setup(ground: Ground) -> HarnessSetup:
    plugin = f"{ground.home}/.agents/plugins/{SERVER_NAME}"
    about = {"name": SERVER_NAME, "version": "1.0.0", "description": "Tells agent-memory that a session has new turns."}
    groups = grouped_hooks(ground, NAME, {"Stop": 10, "SessionEnd": 10})
    hooks = {"hooks": {each.keys[1]: [each.value] for each in groups}}
    server = {
        "enabled": True,
        "type": "stdio",
        "name": SERVER_NAME,
        "description": "The memory that your coding agents share",
        "cmd": ground.program,
        "args": ["mcp"],
        "envs": dict[str, str](),
        "timeout": 300,
    }
    payload = {"event": "Stop", "session_id": SESSION, "working_dir": DIRECTORY}
    return HarnessSetup(
        files=(
            Wanted(Part.HOOKS, f"{plugin}/plugin.json", "whole", (Whole(_json(about)),)),
            Wanted(Part.HOOKS, f"{plugin}/hooks/hooks.json", "whole", (Whole(_json(hooks)),)),
            Wanted(
                Part.MCP,
                f"{ground.config}/goose/config.yaml",
                "yaml",
                (Member(("extensions", SERVER_NAME), server, ground.program),),
            ),
            *skill_file(ground, ground.shared_skill),
        ),
        target=f"{ground.config}/goose/.goosehints",
        plays=(Play(ground.hook(NAME), payload),),
    )


def _json(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
