"""Ports for brokers that are killed and come back."""

from __future__ import annotations

import socket

import pytest

from touchstone.harness.targets import ports


def test_they_differ_and_the_kernel_gives_them_to_nobody():
    found = ports.free_ports(40)
    assert len(set(found)) == 40
    assert all(ports.FIRST_PORT <= port < ports.lowest_handed_out() for port in found)


def test_neighbours():
    first = ports.in_a_row(3)
    assert first >= ports.FIRST_PORT and first + 3 <= ports.lowest_handed_out()


@pytest.mark.parametrize("choose", [lambda: ports.in_a_row(3), lambda: ports.free_ports(3)[0]])
def test_a_port_that_somebody_has_is_passed_over(choose, monkeypatch):
    free = choose()
    monkeypatch.setattr(ports, "_places", lambda step: [free, *range(free + 3, free + 90, step)])
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", free))
        somebody.listen()
        assert choose() != free
    assert choose() == free


@pytest.mark.parametrize("choose", [ports.in_a_row, ports.free_ports])
def test_none_free_is_said(choose, monkeypatch):
    monkeypatch.setattr(ports, "_is_free", lambda port: False)
    with pytest.raises(LookupError, match="no 3 free ports"):
        choose(3)
