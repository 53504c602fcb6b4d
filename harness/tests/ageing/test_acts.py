"""An act has happened when it returns: tried on our broker, which starts at once."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from touchstone.harness.ageing import acts
from touchstone.harness.ageing.life import Act
from touchstone.reference_impl.io.client import Client
from touchstone.reference_impl.io.server import serve


@pytest.fixture(scope="module")
def cluster():
    with serve(brokers=3, config={"group.initial.rebalance.delay.ms": "0"}) as running:
        life = SimpleNamespace(ids=(0, 1, 2))
        yield SimpleNamespace(bootstrap=running.bootstrap, life=life)


@pytest.fixture
def did(cluster):
    def do(kind, seed=1):
        acts.DOES[kind](cluster, random.Random(seed), Act(kind))

    with Client(cluster.bootstrap) as client:
        yield lambda kind, seed=1: (do(kind, seed), client.admin)[1]


def groups(admin):
    return {one.group_id for rows in admin.list_groups().all().values() for one in rows}


def named(admin):
    return [name for name in admin.list_topics() if name.startswith(acts.TENANT)]


@pytest.mark.slow
def test_tenants_leave_records_groups_and_transactions(did):
    admin = did("tenants")
    (name, *_) = named(admin)
    assert admin.list_offsets({(name, 0): -1}).all()[name, 0].offset > 0
    assert {f"{name}-idle", f"{name}-readers"} <= groups(admin)
    listed = [one for rows in admin.list_transactions().all().values() for one in rows]
    assert f"{name}-orders" in {one.transactional_id for one in listed}


@pytest.mark.slow
def test_what_expires_is_gone(did):
    did("tenants", 2)
    before = named(did("tenants", 3))
    admin = did("expire")
    (*left,) = named(admin)
    assert len(left) == len(before) - 1
    ends = admin.list_offsets({(name, 0): -2 for name in left}).all()
    assert all(at.offset > 0 for at in ends.values())
    assert not [one for one in groups(admin) if one.endswith("-idle")]


@pytest.mark.slow
def test_others_go_on_until_the_command_has_ended(cluster, did):
    admin = did("ids")
    with acts.load(cluster):
        while acts.LOADED not in admin.list_topics():
            pass
        while not admin.list_offsets({(acts.LOADED, 0): -1}).all()[acts.LOADED, 0].offset:
            pass
    end = admin.list_offsets({(acts.LOADED, 0): -1}).all()
    assert admin.list_offsets({(acts.LOADED, 0): -1}).all() == end
