"""Two machines, one memory: merging by git."""
