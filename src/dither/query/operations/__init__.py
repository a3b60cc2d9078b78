"""What a question can compute: each operation with its types, its range, its Python
meaning and its SQL.
"""
