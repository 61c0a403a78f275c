"""Fuzzing: what must hold for every input of a parser, and an engine that looks for one that breaks it."""
