"""From what a harness recorded to turns and windows."""
