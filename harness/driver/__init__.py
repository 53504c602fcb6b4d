"""The driver: scenario x endpoint -> transcript. The only place in the harness where time passes.

`line` bounds one connection, `brokers` finds which broker to talk to, `runner` walks the steps,
`harm` keeps the book of faults and undoes them.
"""

from touchstone.harness.driver.runner import DEADLINE_S, run

__all__ = ["DEADLINE_S", "run"]
