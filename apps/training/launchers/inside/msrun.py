"""Starts the processes of one member of a MindSpore run, as its `msrun` would. Standard library only.

    msrun.py MEMBERS WORKERS PORT LOGS PROGRAM…

Every member starts WORKERS times the program, and the first one its scheduler, which is the program once more. The own
`msrun` is not asked: by its addresses each member of a shared network would take itself for the first, or none would.

Contract: "Dynamic Cluster Startup" of MindSpore, which `msrun` stands on: MS_ROLE, MS_SCHED_HOST, MS_SCHED_PORT,
MS_WORKER_NUM and MS_NODE_ID.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

GRACE_S = 10
POLL_S = 0.2
NOT_FOUND = 127
Process = subprocess.Popen[bytes]


def workers(rank: int, members: int, count: int, port: str) -> list[dict[str, str]]:
    """Variables of each process of this member, of all of which the first is the scheduler, in rank 0 alone."""
    common = {
        "MS_WORKER_NUM": str(members * count),
        "RANK_SIZE": str(members * count),
        "MS_SCHED_HOST": socket.gethostbyname("m0"),
        "MS_SCHED_PORT": port,
    }
    own = [
        {**common, "MS_ROLE": "MS_WORKER", "MS_NODE_ID": str(node), "RANK_ID": str(node), "DEVICE_ID": str(device)}
        for device, node in enumerate(range(rank * count, (rank + 1) * count))
    ]
    return [{**common, "MS_ROLE": "MS_SCHED", "RANK_ID": "0"}, *own] if rank == 0 else own


def start(program: list[str], env: dict[str, str], logs: Path) -> Process:
    """What the scheduler prints the program has printed before, so it goes into a file of its own."""
    own = {**os.environ, **env}
    if env["MS_ROLE"] != "MS_SCHED":
        return subprocess.Popen(program, stdin=subprocess.DEVNULL, env=own, start_new_session=True)
    logs.mkdir(parents=True, exist_ok=True)
    with open(logs / "scheduler.log", "ab") as log:
        return subprocess.Popen(
            program, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=own, start_new_session=True
        )


def signalled(processes: list[Process], number: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)


def end(processes: list[Process]) -> None:
    """All of them, and what they started."""
    signalled([process for process in processes if process.poll() is None], signal.SIGTERM)
    until = time.monotonic() + GRACE_S
    while time.monotonic() < until and any(process.poll() is None for process in processes):
        time.sleep(POLL_S)
    signalled(processes, signal.SIGKILL)


def wait_for(processes: list[Process]) -> int:
    """The code of the first that fails, at once, or 0 when all have ended well."""
    while True:
        codes = [process.poll() for process in processes]
        failed = [code for code in codes if code]
        if failed:
            return failed[0] if failed[0] > 0 else 128 - failed[0]
        if None not in codes:
            return 0
        time.sleep(POLL_S)


def main(members: str, count: str, port: str, logs: str, *program: str) -> int:
    processes: list[Process] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda caught, _frame: signalled(processes, caught))
    try:
        for env in workers(int(os.environ["PLSTACK_RANK"]), int(members), int(count), port):
            processes.append(start(list(program), env, Path(logs)))
        return wait_for(processes)
    except OSError as error:
        sys.stderr.write(f"plstack: {program[0]}: {error.strerror}\n")
        return NOT_FOUND if isinstance(error, FileNotFoundError) else 126
    finally:
        end(processes)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
