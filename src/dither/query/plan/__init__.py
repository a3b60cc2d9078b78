"""The measurements of a question, and the share of its cost for each. No engine, no
data.
"""
