"""What every adapter over files builds on: durable writes, containment, locks, lines."""
