"""Listeners come and go while a broker runs, step by step, on ours and on real Kafka.

`recorded/listeners-RELEASE.json` is what real Kafka answered (see `altered_listeners`).
"""

from __future__ import annotations

import socket
from typing import Any

from touchstone.reference_impl.tests.security.listener_names import (
    KEY_PASS,
    KEYS,
    KIND,
    PASS,
    SSL,
    Step,
    first_keys,
    own,
)
from touchstone.reference_impl.tests.security.played_listeners import PLAINTEXT, Played, Scene
from touchstone.reference_impl.tests.security.stores import Stores

LISTENERS, ADVERTISED = "listeners", "advertised.listeners"
MAP = "listener.security.protocol.map"
WEB, EXTRA, MORE, TAKEN = "WEB", "EXTRA", "MORE", "TAKEN"
BEFORE = {PLAINTEXT: "PLAINTEXT", SSL: "SSL", WEB: "PLAINTEXT"}
SPARE = {EXTRA: "PLAINTEXT", MORE: "SSL", TAKEN: "PLAINTEXT"}
FIRST = tuple(BEFORE)


def settings(stores: Stores) -> dict[str, str]:
    return {
        MAP: _map(),
        "inter.broker.listener.name": PLAINTEXT,
        "num.network.threads": "1",
        "password.encoder.secret": "secret",
        **first_keys(stores),
    }


def _map(**more: str) -> str:
    return ",".join(map(":".join, {**BEFORE, **SPARE, **more}.items()))


def _kept_map(played: Played, **more: str) -> str:
    controller = "CONTROLLER:PLAINTEXT," if "CONTROLLER" in played.addresses else ""
    return controller + _map(**more)


def _listens(played: Played, *names: str, more: str = "") -> dict[str, str]:
    return {LISTENERS: played.listeners(*names) + more}


def _tells(played: Played, *names: str) -> dict[str, str]:
    return {ADVERTISED: played.advertised(*names)}


def _both(played: Played, *names: str) -> dict[str, str]:
    return _listens(played, *names) | _tells(played, *names)


def _keys_of_more(played: Played) -> dict[str, str]:
    found = {own(MORE, KEYS): played.stores.keys("more.pem", "more")}
    if played.stores.pem_files:
        return found | {own(MORE, KIND): "PEM"}
    return found | {own(MORE, KIND): "PKCS12", own(MORE, PASS): "secret",
                    own(MORE, KEY_PASS): "secret"}  # fmt: skip


def _held(played: Played) -> Any:
    """Somebody else has the port."""
    host, port = played.addresses[TAKEN].split(":")
    sock = socket.socket()
    sock.bind((host, int(port)))
    played.hold(sock)
    there = FIRST if "CONTROLLER" in played.addresses else (PLAINTEXT, SSL, EXTRA)
    return played.alter(_listens(played, *there, TAKEN))


def _stand(played: Played, name: str) -> None:
    played.stand(name)


STEPS: dict[str, Step] = {
    "nothing yet": lambda p: None,
    "what is not to be parsed": lambda p: p.alter({LISTENERS: "nonsense"}),
    "none": lambda p: p.alter({LISTENERS: ""}),
    "one without a protocol": lambda p: p.alter(
        _listens(p, *FIRST, more=f",OTHER://{p.addresses[EXTRA]}")
    ),
    "two of one name": lambda p: p.alter(
        _listens(p, *FIRST, EXTRA, more=f",EXTRA://{p.addresses[MORE]}")
    ),
    "two of one port": lambda p: p.alter(
        _listens(p, *FIRST, EXTRA, more=f",MORE://{p.addresses[EXTRA]}")
    ),
    "one more, for all brokers": lambda p: p.alter(_listens(p, *FIRST, EXTRA), ""),
    "one more, validated": lambda p: p.alter(_listens(p, *FIRST, EXTRA), validate_only=True),
    "one more": lambda p: p.alter(_listens(p, *FIRST, EXTRA)),
    "described": lambda p: p.described(),
    "somebody comes": lambda p: _stand(p, EXTRA),
    "it is advertised": lambda p: p.alter(_tells(p, *FIRST, EXTRA)),
    "it is moved": lambda p: p.alter(_listens(p, *FIRST, more=f",EXTRA://{p.addresses[TAKEN]}")),
    "it is where it was": lambda p: p.alter(_listens(p, *FIRST, EXTRA)),
    "it has another protocol": lambda p: p.alter({MAP: _kept_map(p, EXTRA="SSL")}),
    "the map has one more": lambda p: p.alter({MAP: _kept_map(p, OTHER="PLAINTEXT")}),
    "the map has one less": lambda p: p.alter({MAP: "PLAINTEXT:PLAINTEXT"}),
    "no such protocol": lambda p: p.alter({MAP: _kept_map(p, OTHER="QUIC")}),
    "one with keys": lambda p: p.alter(_listens(p, *FIRST, EXTRA, MORE) | _keys_of_more(p)),
    "with other keys": lambda p: p.alter(
        {own(MORE, KEYS): p.stores.keys("other.pem", "other more")}
    ),
    "it has settings of its own": lambda p: p.alter({own(EXTRA, "max.connections"): "100"}),
    "an old one has, at once": lambda p: p.alter(
        _listens(p, *FIRST, EXTRA) | {own(WEB, "connections.max.idle.ms"): "60000"}
    ),
    "one is not advertised": lambda p: p.alter(_tells(p, PLAINTEXT, SSL, EXTRA)),
    "advertised elsewhere": lambda p: p.alter(
        {ADVERTISED: f"{p.advertised(PLAINTEXT, WEB)},SSL://{p.addresses[TAKEN]}"}
    ),
    "advertised nowhere": lambda p: p.alter(
        {ADVERTISED: f"{p.advertised(PLAINTEXT, WEB)},SSL://0.0.0.0:1"}
    ),
    "one that does not exist is advertised": lambda p: p.alter(_tells(p, *FIRST, EXTRA, TAKEN)),
    "one goes and is advertised": lambda p: p.alter(_listens(p, PLAINTEXT, SSL, EXTRA, MORE)),
    "one goes": lambda p: p.alter(_both(p, PLAINTEXT, SSL, EXTRA)),
    "the new one goes": lambda p: p.alter(_listens(p, *FIRST)),
    "that of brokers is not advertised": lambda p: p.alter(_tells(p, SSL, WEB)),
    "that of brokers goes": lambda p: p.alter(_both(p, SSL, WEB)),
    "a port that is taken": _held,
    "described in the end": lambda p: p.described(),
    "all is as before": lambda p: p.alter({LISTENERS: None, ADVERTISED: None, MAP: None}),
    "only listeners are as before": lambda p: p.alter({LISTENERS: None}),
    "one more again": lambda p: p.alter(_listens(p, *FIRST, EXTRA)),
    "it is started again": lambda p: p.restart(),
}  # fmt: skip
LISTENERS_CHANGE = Scene(BEFORE, settings, STEPS, SPARE)
