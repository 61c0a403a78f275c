"""The files around injection: what was delivered, and what is ready to be."""
