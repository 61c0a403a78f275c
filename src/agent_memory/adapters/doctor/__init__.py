"""What `memory doctor` gathers, and how its repairs are carried out."""
