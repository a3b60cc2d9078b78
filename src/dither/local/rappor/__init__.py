"""RAPPOR: answers in an open vocabulary, as noisy Bloom filters of a few cohorts."""
