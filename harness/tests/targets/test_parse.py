"""The words after `--target`: each names what it should, and a wrong one names its own mistake."""

import pytest

from touchstone.harness.model import advertised
from touchstone.harness.model.target import KINDS, Target
from touchstone.harness.targets import UnknownTarget, addresses, matrix, parse
from touchstone.harness.targets.release import RECORDED
from touchstone.reference_impl.broker.personas.releases import RELEASES

NEWEST = matrix.releases()[-1]


@pytest.mark.parametrize(
    ("spec", "name", "release", "kind"),
    [
        ("kafka@4.3", "kafka@4.3.1", "4.3", "process"),
        ("kafka@4.3.1", "kafka@4.3.1", "4.3", "process"),
        ("kafka@1.0", "kafka@1.0.2", "1.0", "process"),
        ("kafka@latest", f"kafka@{NEWEST.version}", NEWEST.name, "process"),
        (" kafka@2.8.2 ", "kafka@2.8.2", "2.8", "process"),
        ("kafka@2.8.0", "kafka@2.8.0", "2.8", "process"),
        ("kafka@4.1.0", "kafka@4.1.0", "4.1", "process"),
    ],
)
def test_a_word_names_its_release(spec, name, release, kind):
    target = parse(spec)
    assert (target.name, target.release, target.kind) == (name, release, kind)
    assert isinstance(target, Target)
    assert target.kind in KINDS


def test_a_kafka_that_nobody_recorded_is_no_release(monkeypatch):
    known = matrix.releases()
    monkeypatch.setattr(matrix, "recorded", lambda: known)
    assert parse("kafka@3.6.2").release is None


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ("localhost:9092", (("localhost", 9092),)),
        ("a.example:1, b:65535", (("a.example", 1), ("b", 65535))),
        ("[::1]:9092,127.0.0.1:9093", (("::1", 9092), ("127.0.0.1", 9093))),
    ],
)
def test_addresses_of_an_external_broker(spec, found):
    assert addresses(spec) == found


@pytest.mark.parametrize(
    ("spec", "mistake"),
    [
        ("kafka", "kafka needs a release"),
        ("kafka@", "kafka needs a release"),
        ("reference@9.9", "'9.9' is not in ci/matrix.toml, which has 1.0 (1.0.2)"),
        ("reference@4.1", "Kafka 4.1 has no persona, its answers alone are recorded"),
        ("recorded", "recorded needs a release"),
        ("redpanda@24", "'redpanda' is none of reference, recorded, kafka, docker"),
        ("nonsense", "'nonsense' is neither HOST:PORT"),
        ("localhost", "'localhost' is neither HOST:PORT"),
        ("localhost:0", "0 is no port"),
        ("localhost:70000", "70000 is no port"),
        ("a:1,,b:2", "'' is neither HOST:PORT"),
        ("::1:9092", "'::1:9092' is neither HOST:PORT"),
        ("", "'' is neither HOST:PORT"),
    ],
)
def test_an_error_names_what_was_wrong(spec, mistake):
    with pytest.raises(UnknownTarget) as error:
        parse(spec)
    assert mistake in str(error.value)
    assert repr(spec) in str(error.value)


def test_the_matrix_is_in_order_and_complete():
    names = [release.name for release in matrix.releases()]
    assert names == list(RELEASES)
    assert matrix.zookeeper().version == "2.8.2"
    for release in matrix.releases():
        assert matrix.release(release.name) == matrix.release(release.version) == release
        assert release.version.startswith(release.name + ".")
        assert release.tier in ("live", "nightly")


def test_every_recorded_release_has_its_folder_and_the_table_says_its_tier():
    recorded = matrix.recorded()
    assert [release.name for release in recorded] == list(advertised.every())
    for release in recorded:
        assert advertised.is_between(release.name) == (release.tier == RECORDED)
        assert matrix.release(release.name) == matrix.release(release.version) == release
        assert parse(f"recorded@{release.version}").available() is None
