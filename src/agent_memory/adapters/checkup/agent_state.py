"""Whether the configured agent command could be run. It is not run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from returns.result import Failure, Success

from agent_memory.adapters.agent.chosen_command import choose_command, shown_command, uses_builtin
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.config import LlmConfig
from agent_memory.domain.results import sealed
from agent_memory.errors import AgentMissing, Error


def agent_trouble(llm: LlmConfig, environ: Mapping[str, str]) -> Error | None:
    """Why the command cannot be run: AgentMissing, ConfigInvalid, PresetRefused; None where nothing speaks against it."""
    if uses_builtin(llm):
        return None
    match sealed(choose_command(llm, home_of(environ))):
        case Failure(error):
            return error
        case Success(command):
            path = environ.get("PATH", os.defpath)
            return None if shutil.which(command.argv[0], path=path) else AgentMissing(shown_command(command.argv[:1]))
