"""Finding entries by words and by meaning: the question, the terms of a text, the ranking, and the answer."""

TERMS_VERSION = 4
"""Changes with what `terms`, the stemmer or its stop words make of a text: an older index is then made anew."""
