"""The outside world: one module per implementation of a port."""
