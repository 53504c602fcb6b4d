"""The former place of `kit.producing`."""

from touchstone.suites.kit.producing import produce_many  # noqa: F401
