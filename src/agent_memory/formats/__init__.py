"""How it is written down: text to value and back. Pure."""
