"""Real Kafka with a listener of every kind is judged as on its plain one, whoever logs in how.

By day one broker of 4.3 is asked in every way, and refuses what it should in words. By night 2.8,
3.9, 4.3 and ours are judged by whole suites and fuzzed, each way with the verdicts that the plain
listener gets.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator

import pytest

from touchstone.harness.model.target import Unavailable
from touchstone.harness.targets import probe
from touchstone.harness.tests.targets import secured_matrix as matrix
from touchstone.harness.tests.targets.every_way import WAYS, Everything, lets_in, running

pytestmark = [pytest.mark.slow, pytest.mark.live, pytest.mark.java, pytest.mark.maven]
BY_NIGHT = ("kafka@2.8", "kafka@3.9", "reference@4.3")


def started(word: str, folder) -> Iterator[Everything]:
    try:
        with running(word, folder) as found:
            yield found
    except Unavailable as missing:
        pytest.skip(f"not run: {missing.reason}")


@pytest.fixture(scope="module")
def broker(tmp_path_factory) -> Iterator[Everything]:
    yield from started("kafka@4.3", tmp_path_factory.mktemp("keys"))  # 6 s


@pytest.fixture(
    params=["kafka@4.3", *(pytest.param(word, marks=pytest.mark.nightly) for word in BY_NIGHT)]
)
def any_broker(request, tmp_path) -> Iterator[Everything]:
    (keys := tmp_path / "keys").mkdir()
    yield from started(request.param, keys)


@pytest.mark.parametrize(("listener", "mechanism"), WAYS)
def test_every_way_leads_to_the_same_broker(broker, listener, mechanism):
    assert lets_in(broker, listener, mechanism)
    address = broker.address(listener)
    assert probe.metadata(address).brokers == {0: address}
    versions = probe.api_versions(address)
    assert versions == probe.api_versions(broker.address("PLAINTEXT"))


def test_what_does_not_fit_is_one_line(any_broker, tmp_path):
    complained = {
        wrong.name: [*found, ended.said]
        for wrong in any_broker.wrong()
        if (found := list(matrix.complaints(wrong, ended := matrix.refused(wrong, tmp_path))))
    }
    assert complained == {}


@pytest.mark.nightly  # half a minute of suites and a minute of fuzzing for each of thirteen ways
@pytest.mark.timeout(2 * matrix.PATIENCE_S * (1 + len(WAYS)))
@pytest.mark.parametrize("word", ["kafka@4.3", *BY_NIGHT])
def test_every_way_has_the_verdicts_of_the_plain_listener(word, tmp_path):
    (keys := tmp_path / "keys").mkdir()
    for broker in started(word, keys):
        found = {
            way: matrix.cell(broker, way, tmp_path / "-".join(way), matrix.MINUTE_S)
            for way in (matrix.PLAIN, *WAYS)
        }
        expected = found[matrix.PLAIN].verdicts
        assert collections.Counter(expected.values())["CONFORMS"] > 100
        assert {way: list(one.complaints(expected)) for way, one in found.items()} == (
            dict.fromkeys(found, [])
        )
