"""What must stay true of clients that work for hours, checked while they work.

A history (`checkers/histories`) is judged whole and in memory; an hour of it would not fit, and
would hide a leak of the client behind its own growth. Here each promise has a ledger that forgets
what is settled: what it holds is what is under way, so its process's memory is the client's. Pure:
a ledger is told of events and says what is wrong; no clock, no client.
"""
