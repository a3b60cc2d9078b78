"""Private answers about a list or an array."""
