"""What a person does with single notes."""
