"""Ages a Kafka that we start: `touchstone age` (harness/cli/age.py).

`life` decides from a seed what happens, `cluster` runs the processes that it happens to, `acts` are
what happens. Nothing here judges: what comes out is an address, for the suites and any other
command.
"""
