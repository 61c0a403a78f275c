"""agent-memory: the memory that coding agents share, as plain markdown in a git repository.

Public names are loaded on first use: importing this package costs nothing, since `memory capture` runs inside every
turn of every agent.
"""

__version__ = "0.1.0"
