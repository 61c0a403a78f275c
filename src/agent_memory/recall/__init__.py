"""Finding notes again: index, ranking, search by words and by meaning, and what a session is told."""
