"""From a defrag proposal to a plan: every check that stands between an agent's word and the store (design §5.2)."""
