"""Some answers tell a peer what it may do, as bit fields.

Without an authorizer everybody may do everything, so each resource has one constant: the bits of
all operations that mean something for it (KIP-430). The bit is the AclOperation's code.

Observed on 2.8.2, 3.9.2 and 4.3.1: 8096 for the cluster, 3576 for a topic, 328 for a group
(3400 on 4.3.1, where groups have configs).
"""

READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE = 3, 4, 5, 6, 7, 8
CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = 9, 10, 11, 12
NOT_ASKED = -(1 << 31)  # what stands in the field where the request did not ask


def _bits(*operations: int) -> int:
    return sum(1 << operation for operation in operations)


CLUSTER_OPERATIONS = _bits(
    CREATE,
    ALTER,
    DESCRIBE,
    CLUSTER_ACTION,
    DESCRIBE_CONFIGS,
    ALTER_CONFIGS,
    IDEMPOTENT_WRITE,
)
TOPIC_OPERATIONS = _bits(
    READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS
)
GROUP_OPERATIONS = _bits(READ, DELETE, DESCRIBE)
GROUP_CONFIG_OPERATIONS = _bits(DESCRIBE_CONFIGS, ALTER_CONFIGS)
