"""Readers of what DuckDB can open: text files, Parquet files, data frames, databases."""
