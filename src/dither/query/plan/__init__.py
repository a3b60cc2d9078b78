"""What a question measures, and with how much of its cost. No engine, no data."""
