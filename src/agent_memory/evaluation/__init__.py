"""Whether memory helps, in numbers that may come out against it."""
