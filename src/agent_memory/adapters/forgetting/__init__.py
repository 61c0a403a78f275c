"""Forgetting: finding every trace of a note or a session under the root, and removing it."""
