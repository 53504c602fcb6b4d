"""The reference client: what a Kafka client decides, without sockets or clocks.

`connection` turns asks into bytes and bytes into answers; everything above it is written as flows
(`flow`): generators that yield what they want asked and are given what came of it. `io.client`
runs flows over sockets; a test runs them by hand. Sees `wire` only, never the broker.
"""
