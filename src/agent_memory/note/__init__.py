"""A note: its values, its file name, and how it is written down."""

TERMS_VERSION = 4
"""Changes with the terms that `terms`, the stemmer or its stop words derive; older indexes are then rebuilt."""
