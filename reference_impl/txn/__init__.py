"""The coordinator of transactions has states, epochs and timeouts; no requests, logs or clock."""
