"""Tests of teachers that vote."""
