"""Our client at work for hours, in a process of its own: `load.py` is the program, `handle.py` its
other end, the rest are its threads. What they see goes into ledgers (`checkers/soaks`) at once.
"""
