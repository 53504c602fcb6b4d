"""One value, from what the application wrote to what its type means: ConfigDef.parseType at 4.3.1.

Text is trimmed and read as Java reads it; a value that already has the type is kept. A Python value
is called in messages what it would be in Java: 5 is a java.lang.Integer, 2**31 a java.lang.Long.
A class is a Python class or callable, or the name of a Kafka class that somebody registered here
(`register_class`): Java loads classes by name, and this is what we can load.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from touchstone.reference_impl.client.flow import ClientError

_BITS = {"SHORT": 15, "INT": 31, "LONG": 63}
_CALLED = {
    "SHORT": "a 16-bit integer (short)",
    "INT": "a 32-bit integer",
    "LONG": "a 64-bit integer (long)",
}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)[fFdD]?")
_COMMA = re.compile(r"\s*,\s*")
_classes: dict[str, Any] = {}


class ConfigException(ClientError):
    """A configuration that means nothing; the message is Java's."""


class Password(str):
    """A secret: it does not show in messages and logs."""

    __slots__ = ()

    def __str__(self) -> str:
        return "[hidden]"

    __repr__ = __str__

    @property
    def value(self) -> str:
        return str.__str__(self)


def invalid(name: str, value: Any, why: str = "") -> ConfigException:
    """ConfigException(name, value, message)."""
    tail = f": {why}" if why else ""
    return ConfigException(f"Invalid value {shown(value)} for configuration {name}{tail}")


def shown(value: Any) -> str:
    """A value as Java's string concatenation prints it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(shown, value))}]"
    return f"class {java_name(value)}" if isinstance(value, type) else str(value)


def java_name(kind: type) -> str:
    """What Java calls this class: its own name for ours."""
    known = [name for name, each in _classes.items() if each is kind]
    return known[0] if known else f"{kind.__module__}.{kind.__qualname__}"


def register_class(name: str, meaning: Any) -> None:
    """`name` (a Java class) can be loaded from now on; it means this class, callable or word."""
    _classes[name] = meaning


def parse(name: str, value: Any, type_: str) -> Any:
    """The value as `type_` has it; None stays None. Raises ConfigException."""
    return None if value is None else _READERS[type_](name, value, type_)


def _boolean(name: str, value: Any, _: str) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise invalid(name, value, "Expected value to be either true or false")


def _string(name: str, value: Any, type_: str) -> str:
    if not isinstance(value, str):
        raise invalid(name, value, f"Expected value to be a string, but it was a {_java(value)}")
    if type_ == "PASSWORD":
        return value if isinstance(value, Password) else Password(value.strip())
    return value.strip()


def _integer(name: str, value: Any, type_: str) -> int:
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value.strip()) or not _fits(int(value), _BITS[type_]):
            raise invalid(name, value, f"Not a number of type {type_}")
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not _fits(value, _BITS[type_]):
        why = f"Expected value to be {_CALLED[type_]}, but it was a {_java(value)}"
        raise invalid(name, value, why)
    return value


def _double(name: str, value: Any, type_: str) -> float:
    if isinstance(value, str):
        if not _DOUBLE.fullmatch(value.strip()):
            raise invalid(name, value, f"Not a number of type {type_}")
        return float(value.strip().rstrip("fFdD"))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise invalid(name, value, f"Expected value to be a double, but it was a {_java(value)}")
    return float(value)


def _list(name: str, value: Any, _: str) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, str):
        raise invalid(name, value, "Expected a comma separated list.")
    return _COMMA.split(value.strip()) if value.strip() else []


def _class(name: str, value: Any, _: str) -> Any:
    if isinstance(value, str):
        if value.strip() not in _classes:
            raise invalid(name, value, f"Class {value} could not be found.")
        return _classes[value.strip()]
    if isinstance(value, type) or callable(value):
        return value
    raise invalid(name, value, "Expected a Class instance or class name.")


def _fits(value: int, bits: int) -> bool:
    return -(1 << bits) <= value < 1 << bits


def _java(value: Any) -> str:
    """The class of a value, by the name that Java has for it."""
    if isinstance(value, int) and not isinstance(value, bool):
        sizes = [name for bits, name in ((31, "Integer"), (63, "Long")) if _fits(value, bits)]
        return f"java.lang.{sizes[0]}" if sizes else "java.math.BigInteger"
    return _JAVA_CLASSES.get(type(value)) or java_name(type(value))


_JAVA_CLASSES: dict[type, str] = {
    str: "java.lang.String",
    bool: "java.lang.Boolean",
    float: "java.lang.Double",
    bytes: "[B",
    list: "java.util.ArrayList",
    tuple: "java.util.ArrayList",
    dict: "java.util.HashMap",
}
_READERS: dict[str, Callable[[str, Any, str], Any]] = {
    "BOOLEAN": _boolean,
    "STRING": _string,
    "PASSWORD": _string,
    "SHORT": _integer,
    "INT": _integer,
    "LONG": _integer,
    "DOUBLE": _double,
    "LIST": _list,
    "CLASS": _class,
}
