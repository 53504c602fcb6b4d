"""The pytest door: `pytest suites/ --target T` (helper D2 fills this in)."""
