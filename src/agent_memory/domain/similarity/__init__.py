"""Which notes are about the same: words in common, vectors of meaning, and what follows for a note that is to be written."""
