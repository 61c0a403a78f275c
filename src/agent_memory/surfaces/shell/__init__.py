"""What shells and `man` are told of the commands: made from the parsers themselves."""
