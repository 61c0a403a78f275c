"""Doctor, status, statistics, why, and forgetting."""
