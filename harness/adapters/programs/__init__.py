"""Adapters of clients that we ship; `adapter.py` is what those in Python have in common."""
