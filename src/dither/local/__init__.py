"""Nobody is trusted: devices randomize their answers, and only sums mean anything."""
