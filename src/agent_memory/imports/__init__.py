"""Other memories, read into ours (`memory import`)."""
