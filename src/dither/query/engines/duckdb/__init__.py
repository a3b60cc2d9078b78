"""DuckDB, embedded."""
