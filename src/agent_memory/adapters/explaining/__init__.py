"""Gathering what is known of an entry and of a session."""
