"""The client for asyncio: the same flows as `io.client`, run by an event loop of asyncio.

async with Client("127.0.0.1:9092") as client:
    async with client.consumer(group="g", topics=["t"]) as consumer:
        async for record in consumer: ...
"""

from touchstone.reference_impl.io.aio.client import Client

__all__ = ["Client"]
