"""Where a note comes from and what became of a session, in plain sentences."""
