"""Parts of the benchmark of a census."""
