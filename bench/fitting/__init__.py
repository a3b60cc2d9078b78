"""Estimators beside diffprivlib and scikit-learn; `bench.estimators` runs it."""
