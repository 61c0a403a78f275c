"""Finding entries by words and by meaning: the question, the terms of a text, the ranking, and the answer."""
