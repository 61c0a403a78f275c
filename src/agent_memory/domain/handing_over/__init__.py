"""Taking a session over: what another agent, or the same one tomorrow, has to know of it."""
