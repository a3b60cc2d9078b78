"""The front: SQL text becomes a small plan of our own. What is not understood is
refused with its place.
"""
