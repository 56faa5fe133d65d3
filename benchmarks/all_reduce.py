"""One of two ranks that sum arrays again and again, for `benchmarks.gang`: by gloo with PyTorch, else by sockets.

    python all_reduce.py RANK FIRST:PORT OWN MIB REPEATS

FIRST is the address of rank 0, OWN this rank's. Prints a JSON list: the seconds of each sum, after two that do not
count. It runs by itself, under any interpreter that has PyTorch or numpy.
"""

import importlib.util
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

WARM_UP = 2
HAS_TORCH = importlib.util.find_spec("torch") is not None


def gloo(rank: int, first: str, port: int, count: int) -> Callable[[], None]:
    """GLOO_SOCKET_IFNAME says over which interface."""
    import torch  # noqa: PLC0415 - where it is installed
    import torch.distributed as dist  # noqa: PLC0415

    dist.init_process_group("gloo", init_method=f"tcp://{first}:{port}", rank=rank, world_size=2)
    tensor = torch.ones(count, dtype=torch.float32)
    return lambda: dist.all_reduce(tensor)


def ring(rank: int, first: str, port: int, own: str, count: int) -> Callable[[], None]:
    """A ring of two: each sums one half, then both get the other's. Sending and receiving at once, as gloo does."""
    import numpy as np  # noqa: PLC0415 - an interpreter with PyTorch may be without it

    peer = _peer(rank, first, port, own)
    array = np.ones(count, np.float32)
    halves = np.split(array, 2)
    room = np.empty_like(halves[0])

    def exchange(given: Any, taken: Any) -> None:
        sender = threading.Thread(target=peer.sendall, args=(memoryview(given).cast("B"),))
        sender.start()
        view, got = memoryview(taken).cast("B"), 0
        while got < len(view):
            got += peer.recv_into(view[got:])
        sender.join()

    def reduce() -> None:
        exchange(halves[1 - rank], room)
        np.add(halves[rank], room, out=halves[rank])
        exchange(halves[rank], halves[1 - rank])
        array[:] = 1.0

    return reduce


def _peer(rank: int, first: str, port: int, own: str) -> socket.socket:
    if rank == 0:
        with socket.create_server((own, port)) as server:
            return server.accept()[0]
    end = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection((first, port), 10)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def main(rank: str, meeting: str, own: str, mib: str, repeats: str) -> None:
    first, port = meeting.rsplit(":", 1)
    count = int(float(mib) * 2**20) // 8 * 2
    reduce = gloo(int(rank), first, int(port), count) if HAS_TORCH else ring(int(rank), first, int(port), own, count)
    took = []
    for _turn in range(int(repeats) + WARM_UP):
        began = time.perf_counter()
        reduce()
        took.append(time.perf_counter() - began)
    print(json.dumps(took[WARM_UP:]))
    sys.stdout.flush()
    os._exit(0)  # gloo's threads may wait for a peer that is gone


if __name__ == "__main__":
    main(*sys.argv[1:])
