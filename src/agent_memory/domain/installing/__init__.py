"""What each harness needs so that memory hears of its sessions, and what was put there: as values."""
