"""A session of an agent: its turns, its history, and its place in the queue."""
