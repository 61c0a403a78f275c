"""The agents that answer prompts: a child process, or the built-in extractor behind the same port."""
