"""From a hook to a record in the inbox."""
