"""The reference broker does with odd record data what each release of Kafka does."""

from pathlib import Path

import pytest

from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

from . import acceptance


def recorded(release: str) -> dict[str, str]:
    found = {}
    for line in Path(__file__).with_name("acceptance.txt").read_text().splitlines():
        name, releases, said = line.split(" | ")
        if release in releases.split():
            found[name] = said
    return found


@pytest.mark.slow
@pytest.mark.parametrize("release", acceptance.RELEASES)
def test_odd_records_are_treated_as_by_kafka(release):
    with serve(release=release) as cluster, Client(cluster.bootstrap) as client:
        ours = acceptance.lines(client, "odd")
    kafkas = recorded(release)
    assert len(kafkas) > 140
    assert ours == kafkas
