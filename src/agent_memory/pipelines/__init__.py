"""The two pipelines: one function per state, in the order of the states, and the driver."""
