"""A changed function in this process: every function object of the old code gets the new one.

Nothing is imported again, so whoever holds the function (a table, a decorator, a bound method) has
the changed one. What a decorator or a module has computed before stays.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType

from touchstone.harness.mutation.operators import Mutant, Source

Place = tuple[str, str]  # module, qualified name of an outermost function
PAIR = "touchstone.reference_impl"


def modules(room: str) -> list[str]:
    """Import a room, a module or a package of the reference pair ("log", "broker.security"), and
    return its modules. Raises ModuleNotFoundError.
    """
    name = f"{PAIR}.{room}"
    module = importlib.import_module(name)
    found = [name]
    for one in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
        importlib.import_module(one.name)
        found.append(one.name)
    return found


def source(module: str) -> Source:
    """The text of an imported module with its mutants."""
    path = Path(str(sys.modules[module].__file__))
    return Source(module.removeprefix(f"{PAIR}."), path.read_text("utf-8"))


def functions(names: Iterable[str]) -> Mapping[CodeType, Place]:
    """The code of every outermost function of these modules."""
    return {one.__code__: (one.__module__, one.__code__.co_qualname) for one in _objects(names)}


def plant(module: str, text: Source, mutant: Mutant) -> None:
    """Change the function in this process, for good: whoever wants it as it was forks first."""
    origin = str(sys.modules[module].__file__)
    whole = compile(text.changed(mutant.number), origin, "exec")
    named = (code for code in _inner(whole) if code.co_qualname == mutant.function)
    new = {code.co_firstlineno: code for code in named}
    for one in _objects([module]):
        if one.__code__.co_qualname == mutant.function:
            one.__code__ = new[one.__code__.co_firstlineno]


def _objects(names: Iterable[str]) -> list[FunctionType]:
    """Every function object of an outermost function of these modules, whoever holds it."""
    wanted = set(names)
    found = (one for one in gc.get_objects() if isinstance(one, FunctionType))
    return [one for one in found if one.__module__ in wanted and "<locals>" not in one.__qualname__]


def _inner(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _inner(one)
