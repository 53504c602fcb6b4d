"""The topics that brokers make for their coordinators, by name."""

OFFSETS = "__consumer_offsets"
TRANSACTIONS = "__transaction_state"
SHARES = "__share_group_state"
ALL = frozenset({OFFSETS, TRANSACTIONS, SHARES})
