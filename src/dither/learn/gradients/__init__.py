"""Sums of clipped gradients, one for each unit, in one backward pass."""
