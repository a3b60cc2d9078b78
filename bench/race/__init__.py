"""The race of `python -m bench query --peers`."""
