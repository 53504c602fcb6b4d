"""GetTelemetrySubscriptions: what a client is to send, and how often.

Sources: KIP-714; ClientMetricsManager, ClientMetricsInstance, ClientMetricsConfigs at 3.9.2 and
4.3.1; observed on both.
"""

from touchstone.harness.model.claim import claim
from touchstone.harness.model.expect import all_of, answer, by_release
from touchstone.harness.model.scenario import Close, Until
from touchstone.harness.model.steps import api_versions
from touchstone.reference_impl.wire.errors import ErrorCode
from touchstone.suites.kit.telemetry import (
    ACCEPTED,
    BY_DEFAULT_MS,
    ID,
    INTERVAL,
    LONG_MS,
    MAX_BYTES,
    NOBODY,
    NUMBER,
    SHORTEST_MS,
    WHERE,
    again,
    ask,
    asked_until,
    is_,
    matching,
    own,
    requested,
    subscribed,
    unsubscribed,
)

SOON = ErrorCode.THROTTLING_QUOTA_EXCEEDED


@claim("telemetry.who-is-nobody-gets-an-id", evidence=("KIP-714",), **WHERE)
def test_who_is_nobody_gets_an_id(case):
    """GetTelemetrySubscriptions without a client instance id returns a new one each time, and with
    an id the same id."""
    client = own()
    return case.scenario(
        subscribed(case.topic("metrics"), "a.", matching(), every_ms=SHORTEST_MS),
        asked_until(INTERVAL, SHORTEST_MS, client=client),
        ask(client=client, name="another"),
        Until(again(client=client), "error_code", "==", ErrorCode.NONE),
        expect=all_of(
            answer("asked", ID).is_not(NOBODY),
            answer("again", ID).is_not(NOBODY),
            is_("another", ErrorCode.NONE),
        ),
    )


@claim("telemetry.who-matches-nothing-sends-nothing", evidence=("KIP-714",), **WHERE)
def test_who_matches_nothing_sends_nothing(case):
    """GetTelemetrySubscriptions of a client that no subscription matches returns no metrics, the
    default interval of five minutes, the compression types that the broker takes, and
    telemetry.max.bytes."""
    return case.scenario(
        ask(client=own(), name="asked"),
        expect=all_of(
            is_("asked", ErrorCode.NONE),
            requested("asked", []),
            answer("asked", INTERVAL).is_(BY_DEFAULT_MS),
            answer("asked", "accepted_compression_types").is_(ACCEPTED),
            answer("asked", "telemetry_max_bytes").is_(MAX_BYTES),
            answer("asked", "delta_temporality").is_(True),
        ),
    )


@claim("telemetry.a-client-asks-at-its-interval", evidence=("KIP-714",), **WHERE)
def test_a_client_asks_at_its_interval(case):
    """GetTelemetrySubscriptions of one client instance within its push interval answers
    THROTTLING_QUOTA_EXCEEDED, and is answered after it."""
    client = own()
    return case.scenario(
        subscribed(case.topic("metrics"), "a.", matching(), every_ms=LONG_MS),
        asked_until(INTERVAL, LONG_MS, client=client),
        again(client=client, name="too soon"),
        ask(client=client, name="another"),
        subscribed(case.topic("metrics"), "a.", matching(), every_ms=SHORTEST_MS, label="often"),
        asked_until(INTERVAL, SHORTEST_MS, client=client, name="often asked"),
        Until(again("often asked", client=client, name="in time"), "error_code", "==", 0),
        expect=all_of(
            is_("too soon", SOON),
            answer("too soon", INTERVAL).is_(0),
            is_("another", ErrorCode.NONE),
            answer("in time", INTERVAL).is_(SHORTEST_MS),
        ),
    )


@claim("telemetry.changes-are-told-at-once", evidence=("observed on 3.9.2 and 4.3.1",),
       level="OBSERVED", **WHERE)  # fmt: skip
def test_changes_are_told_at_once(case):
    """GetTelemetrySubscriptions of a client whose subscriptions changed is answered before its
    interval is over, with the new metrics under another subscription id, and with none where its
    subscription ended."""
    client, name = own(), case.topic("metrics")
    return case.scenario(
        subscribed(name, "a.", matching()),
        asked_until(INTERVAL, LONG_MS, client=client),
        subscribed(name, "b.", matching(), label="changed"),
        asked_until("requested_metrics[0]", "b.", client=client, name="look"),
        again(client=client, name="new"),
        unsubscribed(name),
        asked_until(INTERVAL, BY_DEFAULT_MS, client=client, name="look again"),
        again(client=client, name="none"),
        expect=all_of(requested("asked", ["a."]), requested("new", ["b."]), requested("none", [])),
    )


@claim("telemetry.an-id-of-a-subscription-is-of-its-content", evidence=("KIP-714",), **WHERE)
def test_an_id_of_a_subscription_is_of_its_content(case):
    """The subscription id of a client is another one once its metrics are others, and the same as
    before once they are the same again."""
    client, name = own(), case.topic("metrics")
    return case.scenario(
        subscribed(name, "a.", matching()),
        asked_until(INTERVAL, LONG_MS, client=client),
        subscribed(name, "b.", matching(), label="changed"),
        asked_until("requested_metrics[0]", "b.", client=client, name="look"),
        again(client=client, name="new"),
        subscribed(name, "a.", matching(), label="back"),
        asked_until("requested_metrics[0]", "a.", client=client, name="look again"),
        again(client=client, name="as before"),
        expect=all_of(
            requested("new", ["b."]),
            requested("as before", ["a."]),
            answer("asked", NUMBER).is_not(0),
        ),
    )


@claim("telemetry.a-pattern-matches-whole-ids", evidence=("KIP-714", "observed on 3.9.2 and 4.3.1"),
       **WHERE)  # fmt: skip
def test_a_pattern_matches_whole_ids(case):
    """A subscription matches a client whose id is matched as a whole by its regular expression, not
    one of whose id a part is matched."""
    return case.scenario(
        subscribed(case.topic("metrics"), "a.", matching("a?c")),
        asked_until(INTERVAL, LONG_MS, client=own("ac"), name="whole"),
        ask(client=own("bac"), name="more before"),
        ask(client=own("c", length=24), name="more behind"),
        expect=all_of(
            requested("whole", ["a."]),
            requested("more before", []),
            requested("more behind", []),
        ),
    )


ATTRIBUTES = {
    "software.": ("client_software_name=touch.*", True),
    "other.software.": ("client_software_name=nosuch.*", False),
    "version.": ("client_software_version=1\\.0", True),
    "other.version.": ("client_software_version=1", False),
    "address.": ("client_source_address=127\\..*", True),
    "other.address.": ("client_source_address=10\\..*", False),
    "port.": ("client_source_port=\\d+", True),
    "other.port.": ("client_source_port=0", False),
    "instance.": ("client_instance_id=[-_A-Za-z0-9]{22}", True),
    "other.instance.": ("client_instance_id=AAAAAAAAAAAAAAAAAAAAAA", False),
}  # metrics of a subscription -> what it has to match beside the client's id, whether that does


@claim("telemetry.a-subscription-matches-all-it-names", evidence=("KIP-714",), **WHERE)
def test_a_subscription_matches_all_it_names(case):
    """A subscription that names several attributes matches a client only if each of them does:
    software name and version as ApiVersions told them, source address and port, instance id."""
    client, named = own(), "requested_metrics"
    rows = [
        subscribed(case.topic(f"of-{number}"), word, matching("c", pattern), label=word)
        for number, (word, (pattern, _)) in enumerate(ATTRIBUTES.items())
    ]
    last = subscribed(case.topic("last"), "w.", matching(), every_ms=60_000, label="last")
    wanted = [
        answer("asked", named).contains(word) if fits else answer("asked", named).lacks(word)
        for word, (_, fits) in ATTRIBUTES.items()
    ]
    return case.scenario(
        api_versions(version=3, connection="b", name="hello"),
        rows,
        last,
        asked_until(INTERVAL, 60_000, client=client, to="b"),
        expect=all_of(*wanted),
    )


@claim("telemetry.unsaid-software-is-unknown", evidence=("observed on 3.9.2 and 4.3.1",),
       level="OBSERVED", **WHERE)  # fmt: skip
def test_unsaid_software_is_unknown(case):
    """A client that has sent no ApiVersions of version 3 or later has the software name and version
    "unknown" for subscriptions."""
    pattern = "client_software_name=unknown,client_software_version=unknown"
    return case.scenario(
        subscribed(case.topic("metrics"), "a.", matching("c", pattern)),
        asked_until(INTERVAL, LONG_MS, client=own(), to="b"),
        expect=requested("asked", ["a."]),
    )


@claim("telemetry.subscriptions-are-joined", evidence=("KIP-714",), **WHERE)
def test_subscriptions_are_joined(case):
    """GetTelemetrySubscriptions of a client that several subscriptions match returns the metrics of
    all of them, each once, and the shortest of their intervals; a subscription without a match
    matches every client."""
    client, hour = own(), 3_600_000
    return case.scenario(
        subscribed(case.topic("one"), "a.,b.", matching(), every_ms=2 * LONG_MS, label="one"),
        subscribed(case.topic("two"), "b.", matching(), every_ms=LONG_MS, label="two"),
        subscribed(case.topic("three"), "a.", matching(), every_ms=hour, label="three"),
        subscribed(case.topic("other"), "c.", matching("d"), every_ms=1000, label="other"),
        asked_until(INTERVAL, 1000, client=own("d"), name="look"),
        ask(client=client),
        expect=all_of(
            answer("asked", "requested_metrics").has_length(2),
            answer("asked", "requested_metrics").contains("a."),
            answer("asked", "requested_metrics").contains("b."),
            answer("asked", INTERVAL).is_(LONG_MS),
        ),
    )


@claim("telemetry.all-metrics-are-a-star", evidence=("KIP-714",), **WHERE)
def test_all_metrics_are_a_star(case):
    """GetTelemetrySubscriptions returns "*" alone where one of the client's subscriptions wants all
    metrics."""
    client = own()
    return case.scenario(
        subscribed(case.topic("one"), "a.", matching(), label="one"),
        subscribed(case.topic("two"), "*", matching(), every_ms=LONG_MS // 2, label="two"),
        asked_until(INTERVAL, LONG_MS // 2, client=client),
        expect=requested("asked", ["*"]),
    )


@claim("telemetry.no-interval-is-longer-than-the-default",
       evidence=("observed on 3.9.2 and 4.3.1",), level="OBSERVED", **WHERE)  # fmt: skip
def test_no_interval_is_longer_than_the_default(case):
    """GetTelemetrySubscriptions returns an interval of five minutes where the client's only
    subscription has an interval.ms above that."""
    return case.scenario(
        subscribed(case.topic("metrics"), "a.", matching(), every_ms=BY_DEFAULT_MS + 1),
        asked_until("requested_metrics[0]", "a.", client=own()),
        expect=answer("asked", INTERVAL).is_(BY_DEFAULT_MS),
    )


@claim("telemetry.a-client-goes-with-its-connection", evidence=("observed on 3.9.2 and 4.3.1",),
       level="OBSERVED", **WHERE)  # fmt: skip
def test_a_client_goes_with_its_connection(case):
    """A client instance that comes back on another connection within its interval is answered
    since its first one ended; before 4.x it is THROTTLING_QUOTA_EXCEEDED."""
    client = own()
    back = again(client=client, name="back", to="c")
    return case.scenario(
        subscribed(case.topic("metrics"), "a.", matching()),
        asked_until(INTERVAL, LONG_MS, client=client, to="b"),
        again(client=client, to="d", name="beside"),
        Close("b"),
        Until(back, "error_code", "==", ErrorCode.NONE) if case.release == "4.3" else back,
        expect=all_of(
            is_("beside", SOON),
            by_release({"3.9": is_("back", SOON), "4.3": is_("back", ErrorCode.NONE)}),
        ),
    )
