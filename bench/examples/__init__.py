"""Tables of the pages on training."""
