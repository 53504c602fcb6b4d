"""Streams groups (KIP-1071): tasks for Kafka Streams applications, as 4.3.1 gives them out.

`heartbeat` is what a member says, `coordinator` what becomes of it; `topology`, `partition_counts`
and `configured` are its topics, `assignor` gives tasks out, `reconciliation` walks a member there,
`holders` knows who has them, `endpoints` tells it to others; `records` and `log` are what is kept.
"""
