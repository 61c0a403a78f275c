"""The database of a store: what is derived from its notes, so that nobody reads all files again. It may be removed at any time."""
