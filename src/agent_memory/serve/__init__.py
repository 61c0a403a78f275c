"""`memory serve`: a page on the loopback address over the same functions as the commands."""
