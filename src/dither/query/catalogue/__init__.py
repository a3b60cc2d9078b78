"""What the curator declares about the tables, and is public: types, bounds, keys, caps,
limits.
"""
