"""Mutants: one small change at a time where it matters most, and whether any test notices."""
