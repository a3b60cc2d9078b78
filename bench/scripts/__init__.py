"""Modules that run inside a peer's environment, one process each."""
