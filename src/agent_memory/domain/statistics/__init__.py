"""What a store and its use come to, in numbers."""
