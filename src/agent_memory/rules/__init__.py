"""Decisions, free of I/O: what a reply may change, whose word a note is, what is hot, what a rewrite must keep."""
