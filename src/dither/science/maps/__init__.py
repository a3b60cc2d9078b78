"""Maps of places that must not be found."""
