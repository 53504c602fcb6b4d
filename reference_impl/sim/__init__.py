"""A whole cluster in one process under virtual time: same cores, one seed, no clock, no socket.

`Simulation` is the door (`cluster.py`); the rest is what it is made of.
"""
