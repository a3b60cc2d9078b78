"""From a plan to a release: what to measure, what it costs, exact integers from the
engine, noise, estimates.
"""
