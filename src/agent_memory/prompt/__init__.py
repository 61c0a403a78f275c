"""Prompts for an agent command, and reading its replies."""
