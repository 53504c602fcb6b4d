"""Deliberately empty. The touchstone plugin comes with the package's entry point, and suites have
no fixtures of their own: whatever a claim needs stands in the claim, as data.
"""
