"""Counts steps together: each is done once all ranks have it, and goes on from the step that was saved last.

What is saved is the record of all steps, in one move: whenever this is killed, a step was done and is told, or neither.
"""

import os
import socket
import time
from pathlib import Path

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ADDRESS = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
SAVED, FINISH = Path(os.environ["PLSTACK_CHECKPOINTS"], "steps"), Path(os.environ["PLSTACK_OUTPUT"], "finish")


def lead(peers: list[socket.socket]) -> None:
    done = SAVED.read_text() if SAVED.exists() else ""
    step = done.count("\n")
    while not FINISH.exists():
        step += 1
        for peer in peers:
            peer.sendall(b"step\n")
            assert peer.recv(5) == b"done\n", "a rank is gone"
        done += f"{os.environ['PLSTACK_RESTART']} {step} {WORLD}\n"
        part = SAVED.with_suffix(".part")
        part.write_text(done)
        part.replace(SAVED)
        time.sleep(0.05)
    for peer in peers:
        peer.sendall(b"end!\n")


def follow() -> None:
    while True:
        try:
            peer = socket.create_connection(ADDRESS, 10)
            break
        except OSError:
            time.sleep(0.1)
    peer.settimeout(None)
    while peer.recv(5) == b"step\n":
        peer.sendall(b"done\n")


if RANK == 0:
    SAVED.parent.mkdir(exist_ok=True)
    with socket.create_server(("", ADDRESS[1])) as server:
        lead([server.accept()[0] for _other in range(WORLD - 1)])
else:
    follow()
