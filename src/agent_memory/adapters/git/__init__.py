"""The history of the store."""
