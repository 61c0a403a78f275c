"""Text fit to be stored and compared: hygiene, names, links, tags, terms."""
