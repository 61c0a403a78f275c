"""What an agent is shown unasked: which notes, how much of each, within which budget, and to whom not."""
