"""A workload of clients that uses a cluster for a while and leaves a history of it.

A scenario is one conversation, step by step; a workload is many clients in threads of their own, each
with its own connections, who produce, consume and commit as their seed tells them, while somebody
else harms the brokers. Nobody here judges: what clients asked and were told goes to a history
(harness/history.py), of which `checkers.histories` thinks later what it will.

`recorder` writes the lines, `producers`, `transactions`, `consumers` and `group_members` are the
clients, `workload` starts and ends them.
"""

from touchstone.harness.driver.workload.workload import Broken, NotReady, Plan, Workload

__all__ = ["Broken", "Workload", "NotReady", "Plan"]
