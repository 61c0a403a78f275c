"""What `memory doctor` looks for: pure checks over what was gathered, and what may be repaired."""
