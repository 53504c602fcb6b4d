"""The former place of `kit.three_brokers`."""

from touchstone.suites.kit.records import ONE, THREE, TWO, batch  # noqa: F401
from touchstone.suites.kit.sending import sent as sending  # noqa: F401
from touchstone.suites.kit.three_brokers import *  # noqa: F403
