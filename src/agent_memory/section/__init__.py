"""The managed section of AGENTS.md and its kin."""
