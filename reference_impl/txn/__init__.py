"""The coordinator of transactions: states, epochs, timeouts; no requests, no logs, no clock."""
