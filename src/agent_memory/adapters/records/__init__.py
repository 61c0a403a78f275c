"""What memory keeps about its own work: reads, spend, session marks, runs."""
