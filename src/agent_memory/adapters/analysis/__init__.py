"""What analyses keep between runs."""
