"""The only place that wires adapters together: `memory` holds what everything shares, each room beside it what one command
needs. What only some commands need is imported where it is made."""

from agent_memory.bootstrap.memory import Memory as Memory, open_memory as open_memory
