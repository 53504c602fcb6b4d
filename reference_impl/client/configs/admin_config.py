"""AdminClientConfig: which of its names our admin client obeys.

Source: AdminClientConfig.postProcessParsedConfig at 4.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .client_config import ClientConfig, Option, options, parsed
from .definitions import NEWEST

OBEYED = {"request.timeout.ms": Option("timeout_ms")}


def admin_config(given: Mapping[str, Any], release: str = NEWEST) -> ClientConfig:
    """An admin client's configuration as Java makes it of these values. Raises ConfigException."""
    return parsed("admin", given, release)


def admin_options(config: ClientConfig) -> dict[str, Any]:
    """The keyword arguments of `Admin` for this configuration."""
    return options(config, OBEYED, elsewhere=("bootstrap.servers", "client.id"))
