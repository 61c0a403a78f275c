"""Sync between machines, through the git remote of the store."""
