"""What runs by itself: the jobs, how often, and how they are put into the machine's own scheduler."""
