"""Secrets are taken out of text: the rules are data, the engine is one."""
