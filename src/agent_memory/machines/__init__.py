"""The graphs of states and transitions, and nothing else."""
