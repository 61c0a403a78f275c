"""From a hook payload to a queue in working order."""
