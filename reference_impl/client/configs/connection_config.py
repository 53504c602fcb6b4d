"""What all faces of one client have in common, because its connections do: security, `client.id`.

Java makes a client's connections for one producer or consumer; ours serve every face of a `Client`.
So these names are the client's, and a face that is told otherwise is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .client_config import ClientConfig, parsed
from .definitions import NEWEST, definitions_of_every_client
from .parsing import ConfigException, invalid

_PREFIXES = ("sasl.", "security.", "ssl.")


def connection_config(given: Mapping[str, Any], release: str = NEWEST) -> ClientConfig:
    """What every client defines, of these values. Raises ConfigException."""
    known = definitions_of_every_client(release)
    common = {name: given[name] for name in given if name in known or name == "client.id"}
    return parsed("admin", {"bootstrap.servers": [], **common}, release)


def check_shared(face: Mapping[str, Any], client: Mapping[str, Any]) -> None:
    """Raises ConfigException where a face is told of other connections than its client has."""
    for name, value in face.items():
        if name.startswith(_PREFIXES) and client.get(name) != value:
            why = "it is of the connections, which all of a client's have in common: give it to"
            raise ConfigException(f"{invalid(name, value)}: {why} Client(config=...)")
