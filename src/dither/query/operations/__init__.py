"""What a question can compute: one record for each operation, with its SQL, its types
and ranges, its Python meaning, its intervals, and how each engine writes it.

All records are loaded with the package, so that none is missing wherever it is used.
"""

from dither.query.operations import (  # noqa: F401 - they register their records
    arithmetic,
    casts,
    choices,
    dates,
    logic,
    numbers,
    texts,
)
