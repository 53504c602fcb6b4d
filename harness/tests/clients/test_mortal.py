"""Ports for brokers that are killed and come back."""

from __future__ import annotations

import socket

import pytest

from touchstone.harness.tests.clients import mortal


def test_ports_are_neighbours_that_the_kernel_gives_to_nobody():
    first = mortal.in_a_row(3)
    assert first >= mortal.FIRST_PORT and first + 3 <= mortal.lowest_handed_out()


def test_a_port_that_somebody_has_is_passed_over():
    first = mortal.in_a_row(3)
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", first + 1))
        somebody.listen()
        assert mortal.in_a_row(3, first) != first
    assert mortal.in_a_row(3, first) == first


def test_none_free_is_said(monkeypatch):
    monkeypatch.setattr(mortal, "_is_free", lambda port: False)
    with pytest.raises(LookupError, match="no 3 free ports"):
        mortal.in_a_row(3)
