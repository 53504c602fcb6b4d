"""Cores, made of Java's configuration or of keyword arguments, for the faces of both clients.

A face that is given a `config`, or belongs to a client that was, follows Java's names, with the
defaults that Java's client of that release has; keyword arguments win over them. Serializers are
`bytes` where nobody names others. Names that nobody knows, or nobody obeys, are warned of.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .admin import Admin
from .classic_consumer import ClassicConsumer
from .configs.admin_config import admin_config, admin_options
from .configs.connection_config import check_shared, connection_config
from .configs.consumer_config import consumer_config, consumer_options
from .configs.definitions import NEWEST
from .configs.producer_config import producer_config, producer_options
from .configs.share_consumer_config import share_consumer_config, share_consumer_options
from .consumer import Consumer
from .flow import TopicPartition
from .group_consumer import GroupConsumer
from .kip848_consumer import Kip848Consumer
from .metadata import View
from .metrics.names import CONSUMER, GROUP, PRODUCER
from .producer import Producer
from .security.security_settings import PLAINTEXT, SecuritySettings
from .share_consumer import ShareConsumer
from .transactions import TransactionalProducer

Config = Mapping[str, Any] | None
_READS = {"key.deserializer": bytes, "value.deserializer": bytes}
_WRITES = {"key.serializer": bytes, "value.serializer": bytes}


class Cores:
    """`bootstrap` are addresses `HOST:PORT`. `randrange(n)` gives a number below n, `randbytes(n)`
    n bytes. Raises ConfigException.
    """

    def __init__(
        self,
        bootstrap: str | Iterable[str],
        *,
        client_id: str,
        config: Config,
        randrange: Callable[[int], int],
        randbytes: Callable[[int], bytes],
        release: str = NEWEST,
        now: int = 0,
    ) -> None:
        self.bootstrap = bootstrap.split(",") if isinstance(bootstrap, str) else list(bootstrap)
        hosts = [row.strip().rpartition(":") for row in self.bootstrap]
        self.view = View([(host.strip("[]"), int(port)) for host, _, port in hosts], now)
        self._randrange, self._randbytes = randrange, randbytes
        self.security, self.client_id = PLAINTEXT, client_id
        self._config, self._release = config, release
        self._admin_options: dict[str, Any] | None = None
        if config is not None:
            found = connection_config(config, release)
            self.security = SecuritySettings.of(found)
            self.client_id = found["client.id"] or client_id
        self.view.metrics.client_id = self.client_id

    def admin(self) -> Admin:
        if self._admin_options is None:
            told = self._told(None, {})
            self._admin_options = (
                {} if told is None else admin_options(admin_config(told, self._release))
            )
        return Admin(self.view, **self._admin_options)

    def producer(
        self, config: Config, release: str | None, options: dict[str, Any]
    ) -> Producer | TransactionalProducer:
        self.view.metrics.serve(PRODUCER)
        told = self._told(config, _WRITES)
        if told is None:
            return Producer(self.view, randrange=self._randrange, **options)
        found = producer_config(told, release or self._release)
        options = producer_options(found) | options
        if found["transactional.id"] is None:
            return Producer(self.view, randrange=self._randrange, **options)
        options.setdefault("transaction_timeout_ms", found["transaction.timeout.ms"])
        return self.transactional_producer(found["transactional.id"], options)

    def transactional_producer(
        self, transactional_id: str, options: dict[str, Any]
    ) -> TransactionalProducer:
        """It has no producer id yet: its `init` is to be run."""
        self.view.metrics.serve(PRODUCER)
        return TransactionalProducer(
            self.view, transactional_id, randrange=self._randrange, **options
        )

    def consumer(
        self,
        places: Iterable[TopicPartition],
        group: str | None,
        topics: Iterable[str],
        protocol: str,
        config: Config,
        release: str | None,
        options: dict[str, Any],
    ) -> Consumer:
        """It has its partitions assigned, or its topics subscribed."""
        self.view.metrics.serve(CONSUMER)
        named = {"group.id": group, "group.protocol": protocol} if group is not None else {}
        told = self._told(config, _READS | named)
        if told is not None:
            found = consumer_config(told, release or self._release)
            options = consumer_options(found) | options
            group, protocol = found["group.id"], (found["group.protocol"] or "classic").lower()
        if group is None:
            if topics:
                raise ValueError("topics are shared out in a group: name one, or give partitions")
            alone = Consumer(self.view, **options)
            alone.assign(places)
            return alone
        self.view.metrics.serve(GROUP)
        core: GroupConsumer
        if protocol == "consumer":
            core = Kip848Consumer(self.view, group, member_id=self._member_id(), **options)
        elif protocol == "classic":
            core = ClassicConsumer(self.view, group, **options)
        else:
            raise ValueError(f"group protocol {protocol!r}: there are 'classic' and 'consumer'")
        if topics:
            core.subscribe(topics)
        else:
            core.assign(places)
        return core

    def share_consumer(
        self,
        group: str | None,
        topics: Iterable[str],
        config: Config,
        release: str | None,
        options: dict[str, Any],
    ) -> ShareConsumer:
        told = self._told(config, _READS | ({"group.id": group} if group is not None else {}))
        if told is not None:
            found = share_consumer_config(told, release or self._release)
            group, options = found["group.id"], share_consumer_options(found) | options
        core = ShareConsumer(self.view, group or "", member_id=self._member_id(), **options)
        if topics:
            core.subscribe(topics)
        return core

    def _told(self, config: Config, face: dict[str, Any]) -> dict[str, Any] | None:
        """All that a face is told in Java's names; None where neither it nor its client is."""
        if config is None and self._config is None:
            return None
        common, own = dict(self._config or {}), dict(config or {})
        check_shared(own, common)
        told = {"bootstrap.servers": self.bootstrap, "client.id": self.client_id}
        return told | face | common | own

    def _member_id(self) -> str:
        """As a client makes its own (KIP-1082)."""
        return base64.urlsafe_b64encode(self._randbytes(16)).decode().rstrip("=")
