"""Social graphs whose vertices are public and whose edges are not."""
