"""A catalogue drafted from what a source shows of itself, for the curator to correct."""
