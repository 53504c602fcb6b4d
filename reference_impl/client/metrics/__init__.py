"""A client's metrics by Kafka's names.

`sampled` holds Java's windows, `names` which metrics there are, `client_metrics` what feeds them.
"""
