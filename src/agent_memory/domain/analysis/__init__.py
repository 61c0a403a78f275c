"""What is wrong with a store, without asking anybody: duplicates, contradictions, sizes, links, ages. Deterministic, no I/O."""
