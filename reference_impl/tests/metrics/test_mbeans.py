"""Names are Kafka's, and for Prometheus those of the JMX exporter."""

from __future__ import annotations

import pytest

from touchstone.reference_impl.broker.metrics.mbeans import attribute, gauge, meter


@pytest.mark.parametrize(
    "metric, jmx, prometheus",
    [
        (
            meter("kafka.server", "BrokerTopicMetrics", "MessagesIn", topic="a.b"),
            "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=a.b:Count",
            "kafka_server_brokertopicmetrics_messagesin",
        ),
        (
            gauge("kafka.controller", "KafkaController", "ActiveControllerCount"),
            "kafka.controller:type=KafkaController,name=ActiveControllerCount:Value",
            "kafka_controller_kafkacontroller_activecontrollercount",
        ),
        (
            gauge("kafka.coordinator.group", "GroupMetadataManager", "NumGroups"),
            "kafka.coordinator.group:type=GroupMetadataManager,name=NumGroups:Value",
            "kafka_coordinator_group_groupmetadatamanager_numgroups",
        ),
        (
            attribute("group-coordinator-metrics", "group-count", protocol="classic"),
            "kafka.server:type=group-coordinator-metrics,protocol=classic:group-count",
            "kafka_server_group_coordinator_metrics_group_count",
        ),
    ],
)
def test_a_metric_has_two_names(metric, jmx, prometheus):
    assert (str(metric), metric.family) == (jmx, prometheus)
