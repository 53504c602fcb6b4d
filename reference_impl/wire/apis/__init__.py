"""All request types: one module per API key, found by its name.

Adding an API is adding a file `kNN_name.py` with REQUEST and RESPONSE; nothing is registered by
hand. Names are Kafka's newest (ListOffsets was ListOffset, ElectLeaders ElectPreferredLeaders,
AlterPartition AlterIsr, ListConfigResources ListClientMetricsResources). The versions are the
union over the five releases we are proved against; what a release advertises is its persona's.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
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


class Registry(Mapping[int, Api]):
    """API key -> Api, for every file of this folder; a file is imported when it is first asked for.

    Importing all of them takes a fifth of a broker's cold start, and a broker answers with a dozen.
    """

    def __init__(self) -> None:
        modules = (each.name for each in pkgutil.iter_modules(__path__))
        self._stems = {int(module[1:3]): module for module in sorted(modules)}
        self._loaded: dict[int, Api] = {}
        self._keys: dict[str, int] = {}  # of names that were asked for

    def __getitem__(self, key: int) -> Api:
        try:
            return self._loaded[key]
        except KeyError:
            stem = self._stems[key]
        module = importlib.import_module(f"{__name__}.{stem}")
        name = module.REQUEST.name.removesuffix("Request")
        return self._loaded.setdefault(key, Api(key, name, stem, module.REQUEST, module.RESPONSE))

    def __iter__(self) -> Iterator[int]:
        return iter(self._stems)

    def __len__(self) -> int:
        return len(self._stems)

    def __contains__(self, key: object) -> bool:
        return key in self._stems

    def named(self, name: str) -> Api:
        """The API of Kafka's name; a stem is that name in snake case, which a test checks."""
        known = self._keys.get(name)
        if known is not None:
            return self[known]
        wanted = name.lower()
        for key, stem in self._stems.items():
            if stem[4:].replace("_", "") == wanted and self[key].name == name:
                self._keys[name] = key
                return self[key]
        raise KeyError(name)


API = Registry()


def by_name(name: str) -> Api:
    return API.named(name)
