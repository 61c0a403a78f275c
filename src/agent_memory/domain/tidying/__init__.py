"""The built-in's defrag: what can be said about a store without judgement."""
