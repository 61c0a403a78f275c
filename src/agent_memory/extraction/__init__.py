"""The built-in extractor: notes of a session without a model."""
