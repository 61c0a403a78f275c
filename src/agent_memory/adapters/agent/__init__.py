"""What answers a prompt: commands in bounded child processes, and the built-in."""
