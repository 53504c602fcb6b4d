"""One broker whose listeners are altered step by step, and those who look on: ours or Kafka's."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

from cryptography.x509 import load_der_x509_certificate

from touchstone.reference_impl.tests.io.test_serving import Peer
from touchstone.reference_impl.tests.security.stores import HOST, Stores

METADATA, DESCRIBE, ALTER, HANDSHAKE, AUTHENTICATE, INCREMENTAL = 3, 32, 33, 17, 36, 44
BROKER, SET, DELETE = 4, 0, 1
OF_BROKER = 2  # a source of DescribeConfigs
NODE = "0"
PLAINTEXT, LOGIN, MUTUAL = "PLAINTEXT", "LOGIN", "MUTUAL"


class Scene(NamedTuple):
    """A broker's listeners, with their protocols, and what is done to it."""

    protocols: Mapping[str, str]
    settings: Callable[[Stores], dict[str, str]]
    steps: Mapping[str, Callable[[Played], Any]]
    spare: Mapping[str, str] = {}  # listeners that it may have later


class TlsPeer(Peer):
    """Says nothing about whom it trusts: only what it is shown counts."""

    def __init__(self, address: str, certificate: str | None = None) -> None:
        super().__init__(address)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if certificate:
            context.load_cert_chain(certificate)
        self.sock = context.wrap_socket(self.sock, server_hostname=HOST)

    def serial(self) -> int:
        shown = self.sock.getpeercert(binary_form=True)
        return load_der_x509_certificate(shown).serial_number


class Played:
    """One broker whose settings are altered, and those who look on."""

    def __init__(
        self, scene: Scene, addresses: Mapping[str, str], stores: Stores, look_on: ExitStack,
        restart: Callable[[], None],
    ) -> None:  # fmt: skip
        """`addresses` are those of all listeners, also spare ones; KRaft has CONTROLLER's."""
        self.addresses, self.stores, self.restart = addresses, stores, restart
        kinds = {**scene.protocols, **scene.spare}
        self._plain = [name for name, kind in kinds.items() if kind == "PLAINTEXT"]
        self._secure = [name for name, kind in kinds.items() if kind == "SSL"]
        self._has_spare = bool(scene.spare)
        self._set: dict[str, str | None] = {}  # by the last alterations
        self.friend = stores.pem("friend.pem", "friend")
        self.stranger = stores.pem("stranger.pem", "stranger", by=stores.stranger)
        self.standing: dict[str, Peer] = {}
        self._look_on = look_on
        for name, kind in scene.protocols.items():
            if kind == "SSL" or scene.spare:
                self.stand(name)

    def stand(self, name: str) -> None:
        """A connection that is looked at from now on."""
        self.standing[name] = self._look_on.enter_context(self._peer(name))

    def hold(self, sock: socket.socket) -> None:
        """Until the end."""
        self._look_on.enter_context(sock)

    def ask(self, key: int, version: int, body: dict[str, Any]) -> dict[str, Any]:
        with Peer(self.addresses[PLAINTEXT]) as peer:
            return peer.ask(key, version, body)

    def alter(
        self, changes: Mapping[str, str | None], to: str = NODE, *, validate_only: bool = False
    ) -> list[Any]:
        """What IncrementalAlterConfigs answers; None deletes."""
        rows = [
            {"name": name, "config_operation": DELETE if value is None else SET, "value": value}
            for name, value in changes.items()
        ]
        return self._altered(INCREMENTAL, rows, to, validate_only)

    def replace(self, configs: Mapping[str, str], to: str = NODE) -> list[Any]:
        """What AlterConfigs answers."""
        rows = [{"name": name, "value": value} for name, value in configs.items()]
        return self._altered(ALTER, rows, to, False)

    def _altered(
        self, key: int, rows: list[dict[str, Any]], to: str, validate_only: bool
    ) -> list[Any]:
        resource = {"resource_type": BROKER, "resource_name": to, "configs": rows}
        body = {"resources": [resource], "validate_only": validate_only}
        (row,) = self.ask(key, 0, body)["responses"]
        if to == NODE and not validate_only and row["error_code"] == 0:
            if key == ALTER:  # all others are taken back
                self._set = dict.fromkeys(self._set)
            self._set |= {each["name"]: each["value"] for each in rows}
        return [row["error_code"], self.stripped(row["error_message"])]

    def stripped(self, text: str | None) -> str | None:
        """Without what another run has otherwise."""
        if text is None:
            return None
        for name, address in self.addresses.items():
            port = address.rpartition(":")[2]
            text = text.replace(address, f"{name}-address").replace(
                f"port: {port}", f"port: {name}"
            )
        return text.replace(str(self.stores.folder), "DIR")

    def is_in_force(self) -> bool:
        """Whether the broker has heard what was set last: it need not have where it answered."""
        resource = {"resource_type": BROKER, "resource_name": NODE, "configuration_keys": None}
        body = {"resources": [resource], "include_synonyms": False, "include_documentation": False}
        rows = self.ask(DESCRIBE, 3, body)["results"][0]["configs"]
        found = {row["name"]: row for row in rows if row["config_source"] == OF_BROKER}
        return all(
            name not in found
            if value is None
            else name in found and (found[name]["is_sensitive"] or found[name]["value"] == value)
            for name, value in self._set.items()
        )

    def described(self) -> dict[str, Any]:
        """Settings of listeners, and what is set dynamically."""
        resource = {"resource_type": BROKER, "resource_name": NODE, "configuration_keys": None}
        body = {"resources": [resource], "include_synonyms": True, "include_documentation": False}
        entries = self.ask(DESCRIBE, 3, body)["results"][0]["configs"]
        return {
            each["name"]: [
                self.stripped(each["value"]), each["config_source"], each["read_only"],
                each["is_sensitive"], each["config_type"],
                [[s["name"], self.stripped(s["value"]), s["source"]] for s in each["synonyms"]],
            ]
            for each in sorted(entries, key=lambda entry: entry["name"])
            if each["config_source"] == OF_BROKER
            and each["name"].startswith(("listener", "advertised"))
        }  # fmt: skip

    def seen(self) -> dict[str, Any]:
        """What clients meet."""
        found = {"found": self.found()} if self._has_spare else {}
        return found | {
            "shown": {name: self._shown(name) for name in self._secure},
            "let in": sorted(self._let_in()),
            "standing": {name: _answers(peer) for name, peer in self.standing.items()},
        }

    def _let_in(self) -> Iterator[str]:
        certificates = {"friend": self.friend, "stranger": self.stranger, "nobody": None}
        for who, certificate in certificates.items() if MUTUAL in self.addresses else ():
            if self._is_let_in(MUTUAL, certificate):
                yield who
        for user in ("alice", "bob") if LOGIN in self.addresses else ():
            if self._logs_in(user):
                yield user

    def listeners(self, *names: str) -> str:
        """As the setting has them."""
        own = ["CONTROLLER"] if "CONTROLLER" in self.addresses else []
        return self.advertised(*names, *own)

    def advertised(self, *names: str) -> str:
        return ",".join(f"{name}://{self.addresses[name]}" for name in names)

    def found(self) -> dict[str, Any]:
        """Where the broker is found, by the listener over which it was asked."""
        names = {address: name for name, address in self.addresses.items()}
        found = {}
        for name in [*self._plain, *self._secure]:
            try:
                with self._peer(name) as peer:
                    rows = peer.ask(METADATA, 1, {"topics": []})["brokers"]
            except (OSError, TypeError):
                found[name] = None
            else:
                at = (f"{row['host']}:{row['port']}" for row in rows)
                found[name] = [names.get(address, address) for address in at]
        return found

    def _peer(self, name: str) -> Peer:
        if name in self._plain:
            return Peer(self.addresses[name])
        return TlsPeer(self.addresses[name], self.friend)

    def _shown(self, name: str) -> str:
        try:
            with TlsPeer(self.addresses[name], self.friend) as peer:
                return self.stores.known[peer.serial()]
        except (ssl.SSLError, ConnectionError):
            return "no handshake"

    def _is_let_in(self, name: str, certificate: str | None) -> bool:
        try:
            with TlsPeer(self.addresses[name], certificate) as peer:
                return _answers(peer)
        except (ssl.SSLError, ConnectionError):
            return False

    def _logs_in(self, user: str) -> bool:
        with Peer(self.addresses[LOGIN]) as peer:
            if peer.ask(HANDSHAKE, 1, {"mechanism": "PLAIN"})["error_code"]:
                return False
            token = f"\0{user}\0{user}-secret".encode()
            return peer.ask(AUTHENTICATE, 0, {"auth_bytes": token})["error_code"] == 0


def _answers(peer: Peer) -> bool:
    try:
        return bool(peer.ask(METADATA, 1, {"topics": []})["brokers"])
    except (OSError, TypeError):
        return False
