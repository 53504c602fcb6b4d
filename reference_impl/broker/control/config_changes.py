"""AlterConfigs and IncrementalAlterConfigs end here: one resource gets a new set of configs.

AlterConfigs replaces the overrides of a resource, IncrementalAlterConfigs edits them; both end
here with the whole set that would hold, which is checked, and kept unless it was only to be
validated. Topics, groups, metrics and this broker (or all, by the empty name) can be changed;
loggers are looked at far enough to refuse what Kafka refuses.

Sources: DYN-10, DYN-17; AdminManager@1.0.2, 2.2.1, ZkAdminManager@2.8.2,
ConfigurationControlManager and ConfigAdminManager@3.9.2, 4.3.1; observed on all five releases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from touchstone.reference_impl.api_error import ApiError
from touchstone.reference_impl.broker.configs import (
    broker_settings,
    config_view,
    group_settings,
    metrics_settings,
)
from touchstone.reference_impl.broker.configs.config_values import ValueRefused
from touchstone.reference_impl.broker.configs.node_ids import node_id
from touchstone.reference_impl.broker.configs.topic_settings import TopicSettings
from touchstone.reference_impl.broker.control import topic_names
from touchstone.reference_impl.broker.control.cluster_controller import ClusterController
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.reference_impl.wire.schema import Struct

if TYPE_CHECKING:
    from touchstone.reference_impl.broker.broker import Broker
    from touchstone.reference_impl.broker.effects import Request

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
MIN_ISR = "min.insync.replicas"


class ConfigChanges:
    """The changes that AlterConfigs and IncrementalAlterConfigs make, and what they refuse."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def answer(self, kind: int, name: str, alter: Callable[[str], None]) -> Struct:
        """The row of one resource: what `alter(name)` refused, or success."""
        shown = self.shown_type(kind)
        try:
            alter(name)
        except ApiError as refused:
            return _row(shown, name, refused.code, refused.message)
        return _row(shown, name, ErrorCode.NONE, None)

    def refuse_all(self, resources: Sequence[tuple[int, str]], refused: ApiError) -> Struct:
        """The answer that says the same of each resource."""

        def alter(_: str) -> None:
            raise refused

        return {"responses": [self.answer(kind, name, alter) for kind, name in resources]}

    def current(self, kind: int, name: str) -> dict[str, str]:
        """The overrides that a resource has now. A topic that does not exist has none: what is to
        become of them is looked at before the topic is (observed on 2.8.2, 3.9.2 and 4.3.1).
        """
        if kind == TOPIC:
            topic = self._broker.cluster.topics.get(name)
            return dict(topic.configs) if topic else {}
        if kind == GROUP:
            return group_settings.current(self._broker, name)
        if kind == METRICS:
            return metrics_settings.current(self._broker, name)
        return config_view.dynamic_settings(self._broker, name)

    def missing(self, name: str) -> ApiError:
        if self._broker.persona.quirk("alter.missing-topic-has-a-code"):
            message = f"The topic '{name}' does not exist."
            return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
        return ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, f'Topic "{name}" does not exist.')

    def change(
        self, kind: int, name: str, configs: Mapping[str, str], *, validate_only: bool
    ) -> None:
        """Let `configs` be the overrides of this resource; ApiError where Kafka refuses."""
        if kind == TOPIC:
            missing = name not in self._broker.cluster.topics
            if missing and not self._broker.persona.kraft:  # there values are looked at first
                raise self.missing(name)
            self._hold(kind, name, lambda: self._broker.room(TopicSettings).check(configs))
            if missing:
                raise self.missing(name)
            if not validate_only:
                left_out = self._broker.room(TopicSettings).left_out(configs)
                self._broker.cluster.configure(name, configs, left_out)
                self._broker.room(ClusterController).active.configs_changed()
        elif kind == BROKER:
            self.check_broker_id(name)
            self._hold(kind, name, lambda: broker_settings.check(self._broker, name, configs))
            self._check_min_isr(name, configs)
            if not validate_only:
                self._hold(
                    kind, name, lambda: broker_settings.check_files(self._broker, name, configs)
                )
                broker_settings.keep(self._broker, name, configs)
                self._broker.room(ClusterController).active.configs_changed()
        elif kind == GROUP:
            group_settings.change(self._broker, name, configs, validate_only=validate_only)
        elif kind == METRICS:
            metrics_settings.change(self._broker, name, configs, validate_only=validate_only)

    def _hold(self, kind: int, name: str, check: Callable[[], None]) -> None:
        """Run a check; say what it refused the way this release wraps it."""
        try:
            check()
        except ValueRefused as refused:
            raise self.bad_value(kind, name, refused.message) from None

    def bad_value(self, kind: int, name: str, message: str) -> ApiError:
        """ZooKeeper releases name the resource and call it a bad request, but for unknown names."""
        if self._broker.persona.kraft or message.startswith("Unknown topic config name"):
            code = ErrorCode.INVALID_REQUEST if kind == BROKER else ErrorCode.INVALID_CONFIG
            return ApiError(code, message)
        types = self._broker.persona.quirk("configs.resource-types")
        resource = self._broker.persona.quirk("alter.resources-print-as").format(types[kind], name)
        return ApiError(
            ErrorCode.INVALID_REQUEST, f"Invalid config value for resource {resource}: {message}"
        )

    def check_broker_id(self, name: str) -> None:
        if name == "":
            return
        if node_id(name, "Node" if self._broker.persona.kraft else "Broker") != self._broker.id:
            shown = self._broker.persona.quirk("configs.wrong-id-prints-as").format(name)
            message = f"Unexpected broker id, expected {self._broker.id}, but received {shown}"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)

    def check_logger_id(self, name: str) -> None:
        if not self._broker.persona.kraft:
            self.check_broker_id(name)
        elif node_id(name, "Node") != self._broker.id:
            own = self._broker.id
            shown = self._broker.persona.quirk("configs.wrong-logger-id-prints-as").format(
                name, own
            )
            message = f"Unexpected node id. Expected {own}, but received {shown}"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)

    def _check_min_isr(self, name: str, configs: Mapping[str, str]) -> None:
        """Eligible leader replicas are counted against one setting for all, which has to exist."""
        if not self._broker.persona.quirk("configs.cluster-keeps-min-isr"):
            return
        if name == "" and MIN_ISR not in configs:
            message = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
            raise ApiError(ErrorCode.INVALID_CONFIG, message)
        if name != "" and MIN_ISR in configs:
            message = "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
            raise ApiError(ErrorCode.INVALID_CONFIG, message)

    def check_topic_name(self, name: str) -> None:
        """Refuse an illegal name where the release looks at it before it looks for the topic."""
        if self._broker.persona.kraft:
            if name == "":
                message = "Default topic resources are not allowed."
                raise ApiError(ErrorCode.INVALID_REQUEST, message)
            words = "invalid"
        elif self._broker.persona.quirk("alter.missing-topic-has-a-code"):
            return
        else:
            words = "illegal"
        message = topic_names.refusal(name, words) or ""
        if message:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)

    def check_type(self, kind: int, *, incremental: bool) -> None:
        """Refuse a type of resource that cannot be changed."""
        persona = self._broker.persona
        types = persona.quirk("configs.resource-types")
        known = kind in types and kind in (LOGGER, METRICS, GROUP)
        if kind == BROKER and not persona.quirk("alter.brokers-can-be-altered"):
            message = "AlterConfigs is only supported for topics, but resource type is BROKER"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        if kind == LOGGER and known and not incremental and not persona.kraft:
            message = (
                "AlterConfigs is deprecated and does not support the resource type BROKER_LOGGER"
            )
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        if kind in (TOPIC, BROKER) or (known and (kind != LOGGER or incremental)):
            return
        named = f"Unexpected resource type {types.get(kind, 'UNKNOWN')}"
        message = f"Unknown resource type {kind}" if persona.kraft else named
        raise ApiError(ErrorCode.INVALID_REQUEST, message)

    def unknown_type(
        self, resources: Sequence[tuple[int, str]], *, incremental: bool
    ) -> ApiError | None:
        """What a release that then refuses the whole request says of the first type that cannot be
        changed.
        """
        if not self._broker.persona.quirk("alter.unknown-type-refuses-all"):
            return None
        for kind, _ in resources:
            try:
                if kind != BROKER:
                    self.check_type(kind, incremental=incremental)
            except ApiError as refused:
                return refused
        return None

    def shown_type(self, kind: int) -> int:
        """The type as the answer repeats it: a release that does not know it says 0."""
        persona = self._broker.persona
        known = kind in persona.quirk("configs.resource-types")
        return kind if known or persona.quirk("configs.unknown-type-is-echoed") else 0


def fail(request: Request, code: int) -> Struct:
    """The answer that has `code` for every resource."""
    rows = request.body["resources"]
    return {
        "responses": [_row(row["resource_type"], row["resource_name"], code, None) for row in rows]
    }


def _row(kind: int, name: str, code: int, message: str | None) -> Struct:
    return {
        "error_code": code,
        "error_message": message,
        "resource_type": kind,
        "resource_name": name,
    }
