"""Git as the history of the store."""
