"""Tables of a nesting geography: every level measured, made consistent, with intervals
(docs/census.md).
"""
