"""What git is told."""
