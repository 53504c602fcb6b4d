"""A workload: many clients use a cluster for a while and leave a history of it.

A scenario is one conversation, step by step; the clients of a workload have threads and connections
of their own and produce, consume and commit as their seed tells them, while somebody else harms the
brokers. Nobody here judges: what clients asked and were told goes to a history
(harness/model/history.py), which `checkers.histories` judges later.

`recorder` writes the lines, `producers`, `transactions`, `consumers` and `group_members` are the
clients, `workload` starts and ends them.
"""

from touchstone.harness.driver.workload.workload import Broken, NotReady, Plan, Workload

__all__ = ["Broken", "Workload", "NotReady", "Plan"]
