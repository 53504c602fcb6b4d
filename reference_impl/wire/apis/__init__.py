"""All request types: one module per API key, found by its name.

Adding an API is adding a file `kNN_name.py` with REQUEST and RESPONSE; nothing is registered by
hand. Names are Kafka's newest (ListOffsets was ListOffset, ElectLeaders ElectPreferredLeaders,
AlterPartition AlterIsr, ListConfigResources ListClientMetricsResources). The versions are the
union over the five releases we are proved against; what a release advertises is its persona's.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass

from ..schema import Message


@dataclass(frozen=True, slots=True, eq=False)
class Api:
    key: int
    name: str
    stem: str
    request: Message
    response: Message

    @property
    def versions(self) -> range:
        return self.request.all_versions()

    @property
    def latest(self) -> int:
        return self.versions[-1]


def _load() -> dict[int, Api]:
    found = {}
    for module in sorted(each.name for each in pkgutil.iter_modules(__path__)):
        loaded = importlib.import_module(f"{__name__}.{module}")
        key, name = int(module[1:3]), loaded.REQUEST.name.removesuffix("Request")
        found[key] = Api(key, name, module, loaded.REQUEST, loaded.RESPONSE)
    return found


API: dict[int, Api] = _load()
_BY_NAME = {api.name: api for api in API.values()}


def by_name(name: str) -> Api:
    return _BY_NAME[name]
