"""The machine and the person: home, config, trust, clock, repositories."""
