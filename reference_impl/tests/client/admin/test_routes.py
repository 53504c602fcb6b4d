"""The table of what goes where: nothing that a broker serves is forgotten, nothing is idle."""

import re
from pathlib import Path

import pytest

import touchstone.reference_impl.client.admin as admin
from touchstone.reference_impl.broker.personas.releases import RELEASES
from touchstone.reference_impl.client.admin.routes import ELSEWHERE, ROUTES
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.wire.apis import API


@pytest.mark.parametrize("release", RELEASES)
def test_every_api_that_a_broker_serves_is_somebodys(release):
    with serve(brokers=1, release=release) as cluster, Client(cluster.bootstrap) as client:
        served = {API[key].name for key in client.admin.api_versions([0]).all()[0]}
    assert served - ROUTES.keys() - ELSEWHERE.keys() == set()


def test_every_route_is_walked_by_a_method_and_no_api_has_two_owners():
    sources = "".join(path.read_text() for path in Path(admin.__file__).parent.glob("*.py"))
    called = set(re.findall(r"(?:Call|_describing|_altering|_token_call)\(\s*\"(\w+)\"", sources))
    assert called == ROUTES.keys()
    assert not ROUTES.keys() & ELSEWHERE.keys()
    names = {API[key].name for key in API}
    assert ROUTES.keys() | ELSEWHERE.keys() <= names
