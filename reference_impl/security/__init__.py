"""What both ends of a secure connection read and compute alike; no end of one is here.

The broker's ends are `broker/security`, the client's `client/security`, keys and sockets `io`.
"""
