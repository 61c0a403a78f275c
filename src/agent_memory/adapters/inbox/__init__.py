"""The queue on disk and in memory."""
