"""Which notes are in front of every agent, and which stay behind."""
