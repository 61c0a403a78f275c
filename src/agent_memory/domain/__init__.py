"""What exists: frozen values and pure functions over them. No I/O."""
