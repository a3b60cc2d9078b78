"""Data, votes and the page of the benchmark on PATE."""
