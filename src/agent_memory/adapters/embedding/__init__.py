"""`Embedder`: static word vectors that ship in a package, read without its code; and the search among many vectors."""
