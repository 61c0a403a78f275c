"""The notes on disk and in memory."""
