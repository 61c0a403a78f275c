"""Adapters in memory, for tests of what stands above them. Each passes the contract of its port."""
