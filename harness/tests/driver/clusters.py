"""A scripted cluster that has topics, groups and settings, to be cleared and altered."""

from __future__ import annotations

from typing import Any

from touchstone.harness.model.target import Endpoint
from touchstone.harness.targets.liars import LyingServer
from touchstone.harness.targets.misbehaviour import HangUp
from touchstone.reference_impl.wire import headers
from touchstone.reference_impl.wire.apis import API

EVERYTHING = dict.fromkeys(range(100), (0, 20))


class Cluster:
    """One broker that remembers what it was asked; `own` are settings by (kind, name)."""

    def __init__(self, *topics: str, stubborn: int = 0) -> None:
        self.topics, self.stubborn = set(topics), stubborn
        self.asked: list[tuple[str, Any]] = []
        self.own: dict[tuple[int, str], dict[str, str]] = {}
        self.refuses = 0
        self.server = LyingServer(None, lambda: self._answer)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.server.endpoint.bootstrap, ids=(3,))

    def _answer(self, frame: bytes) -> bytes:
        request = headers.decode_request(frame)
        header, api = request.header, API[request.header.key].name
        self.asked.append((api, request.body))
        do = getattr(self, f"_{api}", None)
        if do is None:
            raise HangUp
        body = do(request.body)
        return headers.encode_response(header.key, header.version, header.correlation_id, body)

    def _DeleteTopics(self, body: Any) -> Any:
        names = [row["name"] for row in body["topics"]]
        there = {name: 0 if name in self.topics else 3 for name in names}
        if self.stubborn:
            self.stubborn -= 1
            there = dict.fromkeys(names, 41)
        else:
            self.topics -= set(names)
        return {"responses": [{"name": n, "error_code": code} for n, code in there.items()]}

    def _DescribeConfigs(self, body: Any) -> Any:
        return {
            "results": [
                {
                    "error_code": 0, "resource_type": row["resource_type"],
                    "resource_name": row["resource_name"],
                    "configs": [
                        {
                            "name": name, "value": value, "read_only": False,
                            "config_source": 2 if row["resource_name"] else 3,
                            "is_sensitive": name.endswith("password"),
                        }
                        for name, value in self.own.get(_owner(row), {}).items()
                    ],
                }
                for row in body["resources"]
            ]
        }  # fmt: skip

    def _IncrementalAlterConfigs(self, body: Any) -> Any:
        for row in body["resources"]:
            for one in row["configs"] if not self.refuses else ():
                mine = self.own.setdefault(_owner(row), {})
                mine.pop(one["name"], None)
                if one["config_operation"] == 0:
                    mine[one["name"]] = one["value"]
        return self._responses(body)

    def _AlterConfigs(self, body: Any) -> Any:
        for row in body["resources"]:
            self.own[_owner(row)] = {one["name"]: one["value"] for one in row["configs"]}
        return self._responses(body)

    def _responses(self, body: Any) -> Any:
        return {
            "responses": [
                {
                    "error_code": self.refuses, "resource_type": row["resource_type"],
                    "resource_name": row["resource_name"],
                }
                for row in body["resources"]
            ]
        }  # fmt: skip


def _owner(row: Any) -> tuple[int, str]:
    return row["resource_type"], row["resource_name"]
