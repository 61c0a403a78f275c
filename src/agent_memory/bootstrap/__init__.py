"""Acts of `agent_memory.app` that take more than a few lines to wire."""
