"""Genotypes of people, over a declared panel of variants."""
