"""The index of the notes: on disk, and in memory."""
