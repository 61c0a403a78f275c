"""Files on disk: durable writes, locks, contained paths, reading of lines."""
