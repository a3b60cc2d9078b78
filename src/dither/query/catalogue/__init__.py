"""The curator's public declarations about the tables: types, bounds, keys, caps,
limits.
"""
