"""Walks of a consumer on the reference broker, as its oldest and its newest release."""

import pytest

from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve

from .admin.test_over_sockets import HASTE, RELEASES, until
from .consumer_walks import FIRST


@pytest.fixture(scope="module", params=["1.0", "4.3"])
def client(request):
    with (
        serve(brokers=1, release=request.param, config=HASTE) as made,
        Client(made.bootstrap) as client,
    ):
        client.release = request.param
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("walk", FIRST, ids=lambda walk: walk.__name__)
def test_a_walk_through(client, walk):
    if RELEASES.index(client.release) >= RELEASES.index(FIRST[walk]):
        walk(client, f"walk-{walk.__name__.replace('_', '-')}", until)
