"""Clients create, grow and delete so many partitions in a second (KIP-599).

A request takes one permit for each partition, topic by topic, from its client's bucket. Who may ask
for more than is there is refused from the version on that knows THROTTLING_QUOTA_EXCEEDED, and only
while something is owed: the topic that empties the bucket is made, whatever its size. Older
versions are never refused. Both are told how long until nothing is owed, and are not read meanwhile
(`data/client_quotas`).

Before KRaft the broker counts that is asked and is the controller; a quorum's controller counts for
all brokers. There what a broker creates for who asks for metadata is counted strictly, and the
client never hears of it.

Sources: KIP-599; ControllerMutationQuotaManager and ZkAdminManager at 2.8.2, ControllerApis and
ReplicationControlManager at 3.9.2, 4.3.1; observed on 2.8.2 and 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs.quota_windows import CONTROLLER, window
from touchstone.reference_impl.cluster.quota_limits import Limit, limit_of
from touchstone.reference_impl.cluster.quota_rates import Measures, TokenBucket
from touchstone.reference_impl.wire.errors import ErrorCode

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request

KEY = "controller_mutation_rate"
Permit = Callable[[int], None]  # so many partitions are about to change; raises ApiError


def unbounded(partitions: int) -> None:
    """The permit of who has no quota."""


class MutationQuota:
    """What one request takes, and how long its client waits for it."""

    def __init__(self, bucket: TokenBucket, limit: float, now: int, *, strict: bool) -> None:
        self._bucket, self._limit, self._now, self._strict = bucket, limit, now, strict
        self._wait = 0

    def permit(self, partitions: int) -> None:
        """Raises THROTTLING_QUOTA_EXCEEDED where the version knows it and something is owed."""
        bucket, limit, now = self._bucket, self._limit, self._now
        if self._strict and bucket.owed(limit, now):
            self._wait = bucket.wait(limit, now)
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        bucket.take(partitions, limit, now)
        if not self._strict:
            self._wait = bucket.wait(limit, now)

    def wait(self, now: int) -> int:
        """Milliseconds that are left, when the answer is given."""
        return max(0, self._wait - (now - self._now))


class _NoQuota(MutationQuota):
    def __init__(self) -> None:
        """Nothing is taken from anybody."""

    def permit(self, partitions: int) -> None:
        unbounded(partitions)

    def wait(self, now: int) -> int:
        return 0


NO_QUOTA = _NoQuota()


class MutationQuotas:
    """The quotas of those who change topics, as one broker or its controller counts them."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._settings = broker.cluster.client_settings
        self._enforced = broker.persona.quirk("quotas.bound-controller-mutations")
        self._buckets = self._of_cluster() if broker.persona.kraft else self._fresh()

    def _fresh(self) -> Measures[TokenBucket]:
        size = window(self._broker.config, CONTROLLER)
        return Measures(lambda: TokenBucket(size))

    def _of_cluster(self) -> Measures[TokenBucket]:
        cluster = self._broker.cluster
        if cluster.mutation_buckets is None:
            cluster.mutation_buckets = self._fresh()
        return cluster.mutation_buckets

    def of(self, request: Request, now: int, *, strict_since: int) -> MutationQuota:
        """`strict_since` is the first version that knows the error."""
        return self._quota(request, now, strict=request.header.version >= strict_since)

    def of_creation(self, request: Request, now: int) -> MutationQuota:
        """Of topics that are created on the way."""
        return self._quota(request, now, strict=self._broker.persona.kraft)

    def of_internal_creation(self, request: Request, now: int) -> MutationQuota:
        """Of a coordinator's topic, which in KRaft a broker asks for in its own name."""
        return NO_QUOTA if self._broker.persona.kraft else self.of_creation(request, now)

    def _quota(self, request: Request, now: int, *, strict: bool) -> MutationQuota:
        found = self._limit(request)
        if found is None:
            return NO_QUOTA
        bucket = self._buckets.of(found.owner, now)
        return MutationQuota(bucket, found.value, now, strict=strict)

    def _limit(self, request: Request) -> Limit | None:
        if not self._enforced or not self._settings.has_quota(KEY):
            return None
        user, client_id = request.connection.principal.name, request.header.client_id or ""
        return limit_of(self._settings, KEY, user, client_id)
