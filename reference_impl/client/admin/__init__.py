"""The admin client: a flow for each thing that Kafka's Admin can do, a result for each item.

What is about many things answers with `Results`: item -> value or error, so that one bad topic
spoils no other; `.all()` raises the first error. What is about one thing raises its error. Which
broker a request goes to stands in `routes.py`, and `driver.py` walks there.
"""

from __future__ import annotations

from .acls import AclAdmin
from .cluster import ClusterAdmin
from .configs import ConfigAdmin
from .credentials import CredentialAdmin
from .group_offsets import GroupOffsetAdmin
from .groups import GroupAdmin
from .partitions import PartitionAdmin
from .quotas import QuotaAdmin
from .results import Results
from .topics import NewTopic, TopicAdmin
from .transactions import TransactionAdmin

__all__ = ["Admin", "NewTopic", "Results"]


class Admin(
    TopicAdmin,
    PartitionAdmin,
    ConfigAdmin,
    AclAdmin,
    QuotaAdmin,
    CredentialAdmin,
    GroupAdmin,
    GroupOffsetAdmin,
    TransactionAdmin,
    ClusterAdmin,
):
    """All of it; `timeout_ms` is how long each call tries."""
