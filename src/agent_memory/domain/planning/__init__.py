"""From a change set to a plan: every check before anything is written (design §5.2), and whose knowledge an entry is."""
