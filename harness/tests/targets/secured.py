"""A broker of ours with a listener of every kind, and what is written down to be let in there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import trustme

from touchstone.harness.targets import reach
from touchstone.harness.targets.external import ExternalTarget
from touchstone.harness.targets.login import Login
from touchstone.reference_impl.io.server import serve
from touchstone.reference_impl.tests.client.security.listeners import (
    SCRAM,
    jaas,
    keys,
    login,
    pem,
    sasl_settings,
    trust,
)

LISTENERS = ("PLAINTEXT", "SASL_PLAINTEXT", "SASL_SSL", "SSL")
SECURED = ("SASL_PLAINTEXT", "SASL_SSL")


class Secured(NamedTuple):
    """A running broker and who vouches for it, and for clients."""

    where: Mapping[str, str]  # HOST:PORT by listener
    authority: trustme.CA

    def address(self, listener: str) -> tuple[str, int]:
        host, _, port = self.where[listener].rpartition(":")
        return host, int(port)

    def properties(self, listener: str, mechanism: str = "PLAIN", **how: str) -> dict[str, str]:
        """What lets a client in."""
        if listener == "SSL":
            mine = self.authority.issue_cert("alice@example.com")
            own = {
                "security.protocol": "SSL",
                "ssl.keystore.type": "PEM",
                "ssl.keystore.certificate.chain": "\n".join(map(pem, mine.cert_chain_pems)),
                "ssl.keystore.key": pem(mine.private_key_pem),
            }
        else:
            own = login(mechanism, listener, **how)
        return own | (trust(self.authority) if listener.endswith("SSL") else {})

    def target(self, listener: str, properties: Mapping[str, str] | None) -> ExternalTarget:
        given = None if properties is None else Login(properties, "mine.properties")
        found = ExternalTarget((self.address(listener),), given)
        found.coordinators = False  # nothing here needs internal topics
        return found


@contextmanager
def secured(*, brokers: int = 1, switches: tuple[str, ...] = (), **more: str) -> Iterator[Secured]:
    """`more` are settings of the broker, with _ for the dots of their names."""
    authority = trustme.CA(key_type=trustme.KeyType.ECDSA)
    server = authority.issue_cert("127.0.0.1", key_type=trustme.KeyType.ECDSA)
    config = {
        "listeners": ",".join(f"{each}://127.0.0.1:0" for each in LISTENERS),
        "listener.name.ssl.ssl.client.auth": "required",
        "connection.failed.authentication.delay.ms": "0",
        "group.initial.rebalance.delay.ms": "0",
        **sasl_settings(*SECURED),
        **keys(server, authority),
        **{name.replace("_", "."): value for name, value in more.items()},
    }
    with serve(brokers=brokers, config=config, scram=SCRAM, switches=switches) as cluster:
        where = {name: cluster.listeners[name][0] for name in LISTENERS}
        try:
            yield Secured(where, authority)
        finally:
            reach.ask(None)
            reach.log_in(reach.logins(), None)


def written(folder: Path, properties: Mapping[str, str]) -> Path:
    """A file of these properties."""
    path = folder / "client.properties"
    lines = (f"{key}={value}".replace("\n", "\\n") for key, value in properties.items())
    path.write_text("\n".join(lines) + "\n", encoding="latin-1")
    return path


__all__ = ["Secured", "jaas", "secured", "written"]
