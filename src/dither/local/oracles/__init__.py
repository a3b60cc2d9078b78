"""How a device answers so that its message says little about it, and what many such
messages say together.
"""
