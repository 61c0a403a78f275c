"""What an agent command is asked, and how its reply is read."""
