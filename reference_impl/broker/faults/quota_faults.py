"""These switches plant defects of quotas and of limits on connections: (name, sentence, caught by).

`switches.py` lists them with the others; what each changes stands in `broker/defects/cluster.py`
and `broker.py`.
"""

ROWS = (
    (
        "quotas-ignored",
        "A client above its quota is never told to wait.",
        "quotas.a-producer-above-the-default-waits",
    ),
    (
        "mutation-quotas-ignored",
        "A client above its controller_mutation_rate makes topics all the same.",
        "quotas.who-owes-permits-makes-no-topic",
    ),
    (
        "request-time-ignored",
        "A client above its request_percentage is never told to wait.",
        "quotas.who-takes-too-much-time-waits",
    ),
    (
        "connection-limits-ignored",
        "Any number of connections is taken from one address.",
        "connections.too-many-of-one-address-are-closed",
    ),
)
