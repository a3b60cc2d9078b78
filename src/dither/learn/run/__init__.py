"""The parts that all runs share: settings, the cost and its preview, the steps one after
the other, and the release. Runs differ in the work of a step.
"""
