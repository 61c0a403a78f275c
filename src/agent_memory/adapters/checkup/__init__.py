"""Gathering what a checkup looks at, and carrying out its repairs."""
