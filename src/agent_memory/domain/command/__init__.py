"""What is known of agent commands: presets, refusals, trust in configs."""
