"""Campaigns on the tests of trials, one module for each family."""
