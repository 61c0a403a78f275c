"""Notes and records on disk, and the database derived from them."""
