"""Synthetic tables over a declared domain (docs/synth.md)."""
