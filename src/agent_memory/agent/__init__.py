"""The agent command: a child process, or the built-in extractor behind the same port."""
