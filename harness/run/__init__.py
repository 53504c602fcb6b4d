"""One run of the suites: who is asked when, how fast, and what is left behind."""
