"""Who calls us. Surfaces parse, call and render; they decide nothing."""
