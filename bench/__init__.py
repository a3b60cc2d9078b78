"""Measured goals: `python -m bench NAME` beside other libraries, `python -m bench
check` for what is not met.
"""
