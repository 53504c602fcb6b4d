"""Looks at an admin client: what its operations gave; see `client_view`. Pure."""

from __future__ import annotations

from typing import Any

from touchstone.harness.model.client_exchanges import said
from touchstone.harness.model.transcript import Transcript
from touchstone.reference_impl.wire.errors import name_of


def listed(transcript: Transcript) -> list[str]:
    """The topics that the last list_topics gave."""
    found = [one.row for one in said(transcript) if one.name == "admin_result"]
    rows = [row["result"] for row in found if row["operation"] == "list_topics"]
    return list(rows[-1] or ()) if rows else []


def results(transcript: Transcript, operation: str) -> list[Any]:
    """What each operation of this name gave."""
    found = [one.row for one in said(transcript) if one.name == "admin_result"]
    return [row["result"] for row in found if row["operation"] == operation]


def given(transcript: Transcript, operation: str) -> list[Any]:
    """What the last operation of this name gave, as a list."""
    found = results(transcript, operation)
    return list(found[-1] or ()) if found else []


def item(transcript: Transcript, operation: str, item: str) -> str:
    """What the last operation of this name says of one of its items: the name of an error, or ""
    where there is none; "(nothing)" where it does not speak of it.
    """
    found = [one.row for one in said(transcript) if one.name == "admin_result"]
    rows = [row.get("items") or () for row in found if row["operation"] == operation]
    codes = {row["item"]: row["code"] for row in (rows[-1] if rows else ())}
    if item not in codes:
        return "(nothing)"
    return name_of(codes[item]) if codes[item] else ""


def setting(transcript: Transcript, key: str) -> str | None:
    """The value of a setting that the last describe_configs gave; None where it gave none."""
    found = results(transcript, "describe_configs")
    return (found[-1] or {}).get(key) if found else None
