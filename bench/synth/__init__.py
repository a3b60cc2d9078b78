"""Parts of the benchmark of synthetic tables."""
