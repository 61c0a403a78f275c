"""A note: its values, its file name, and how it is written down."""

TERMS_VERSION = 4
"""Changes with what `terms`, the stemmer or its stop words make of a text: an older index is then made anew."""
