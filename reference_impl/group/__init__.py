"""A group coordinator keeps and decides these things, without requests, sockets or clocks."""
