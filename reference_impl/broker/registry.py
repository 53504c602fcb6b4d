"""The folder `handlers/` is the table of handlers: one file serves one API key.

A file `handlers/kNN_name.py` serves key NN; its stem is the schema's stem. It is imported when the
first such request arrives, so that a broker that is asked little loads little
(`touchstone bench startup`). Adding an API is adding a file.

What stands between the request and the instant in the signature of `handle` is what the API may
touch of its broker: `handle(request, groups: Groups, persona: Persona, now)` gets the broker's one
`Groups` and its persona, and nothing else.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from touchstone.reference_impl.broker.effects import Request
from touchstone.reference_impl.wire.apis import API
from touchstone.reference_impl.wire.schema import Struct

_FOLDER = Path(__file__).parent / "handlers"


@cache
def stems() -> dict[int, str]:
    """API key -> module name, for every handler there is."""
    names = sorted(path.stem for path in _FOLDER.glob("k[0-9][0-9]_*.py"))
    return {int(name[1:3]): name for name in names}


@cache
def handler(key: int) -> ModuleType | None:
    """The module that serves `key`, or None when it is not served yet."""
    stem = stems().get(key)
    return import_module(f"touchstone.reference_impl.broker.handlers.{stem}") if stem else None


def module_of(key: int) -> ModuleType:
    """The module that serves `key`; LookupError where none does."""
    module = handler(key)
    if module is None:
        raise LookupError(f"no handler serves key {key}")
    return module


@cache
def services(key: int) -> tuple[type[object], ...]:
    """The classes that the handler's signature names."""
    handle = module_of(key).handle
    code = handle.__code__
    names = code.co_varnames[1 : code.co_argcount - 1]
    return tuple(handle.__globals__[handle.__annotations__[name]] for name in names)


def refusal(request: Request, code: int) -> Struct | None:
    """The body that says this error in the API's own way; None where there is no place for one."""
    key = request.header.key
    fail = getattr(handler(key), "fail", None)
    if fail is not None:
        return fail(request, code)
    told = any(field.name == "error_code" for field in API[key].response.fields)
    return {"error_code": code} if told else None
