"""Read the heartbeats that processes write into the database (`apps.common.heartbeats`). Runs in the environment.

`python -m plstack.launch.watch follow` runs beside the supervisor, which has no database driver. It prints a line of
JSON for each observation, {"heartbeats": {kind: [pid, beats]}, "redis": bool} or {"away": why}, and reads replaced
processes, `KIND PID SECONDS`, from its standard input to record them.

`python -m plstack.launch.watch healthy KIND` is the health check of a container: status 0 if the process of that kind
proves its work. A silent process is killed, so that the container ends and is restarted.
"""

import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Any

import psycopg2
import redis

from plstack.launch.liveness import BEAT, MOST_LOOKS, POLL_SECONDS, LivenessMonitor, SilentProcess, parse_observation

CONNECT_SECONDS = 5
# Even an old proof gets this many observations: after the machine has slept, all proofs are old.
FEWEST_LOOKS = 3


class HeartbeatReader:
    """Reads heartbeats over one database connection, which it reopens after an error."""

    def __init__(self) -> None:
        self.instance = os.environ.get("PLSTACK_INSTANCE") or socket.gethostname()
        self.redis = redis.Redis.from_url(os.environ["REDIS_URL"], socket_timeout=2, socket_connect_timeout=2)
        self._connection: Any = None

    def read_all(self) -> dict[str, Any]:
        """The heartbeats of every process of this copy."""
        return self._read("SELECT kind, pid, beats FROM common_processheartbeat WHERE instance = %s", self.instance)

    def read_kind(self, kind: str) -> dict[str, Any]:
        """The heartbeat of one process, and of beat wherever it runs: its messages keep the other one working."""
        mine = "SELECT kind, pid, beats FROM common_processheartbeat WHERE instance = %s AND kind = %s"
        beats = (
            "SELECT 'beat', 0, sum(beats)::bigint FROM common_processheartbeat WHERE kind = 'beat' HAVING count(*) > 0"
        )
        if kind == BEAT:
            return self._read(mine, self.instance, kind)
        return self._read(f"{mine} UNION ALL {beats}", self.instance, kind)

    def age(self, kind: str) -> float:
        """Seconds since its last proof by the database's clock; 0 if there is none."""
        query = (
            "SELECT extract(epoch FROM clock_timestamp() - beat_at)::float FROM common_processheartbeat "
            "WHERE instance = %s AND kind = %s"
        )
        return float(next(iter(self._ask(query, self.instance, kind)), (0.0,))[0])

    def _read(self, statement: str, *values: object) -> dict[str, Any]:
        try:
            rows = self._ask(statement, *values)
        except psycopg2.Error as error:
            return {"away": str(error).partition("\n")[0]}
        return {"heartbeats": {kind: [pid, beats] for kind, pid, beats in rows}, "redis": self._redis_answers()}

    def prove_and_read(self) -> dict[str, Any]:
        """Read after writing a heartbeat of its own: if nobody can write, silence proves nothing."""
        try:
            self._ask(
                "INSERT INTO common_processheartbeat AS one (kind, instance, pid, beats) "
                "VALUES ('supervisor', %s, %s, 1) ON CONFLICT (kind, instance) DO UPDATE "
                "SET pid = excluded.pid, beats = one.beats + 1, beat_at = clock_timestamp()",
                self.instance, os.getppid(),
            )  # fmt: skip
        except psycopg2.Error as error:
            return {"away": str(error).partition("\n")[0]}
        return self.read_all()

    def forget_earlier(self) -> None:
        """Delete the heartbeats of an earlier start of this copy, as some of its processes may be disabled now."""
        self._ask("DELETE FROM common_processheartbeat WHERE instance = %s", self.instance)

    def record_replacement(self, kind: str, pid: int, silent_s: float) -> None:
        self._ask(
            "INSERT INTO common_processreplacement (kind, instance, pid, silent_s) VALUES (%s, %s, %s, %s)",
            kind, self.instance, pid, silent_s,
        )  # fmt: skip

    def _redis_answers(self) -> bool:
        try:
            return bool(self.redis.ping())
        except (redis.RedisError, OSError):
            return False

    def _ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        if self._connection is None:
            self._connection = psycopg2.connect(os.environ["DATABASE_URL"], connect_timeout=CONNECT_SECONDS)
            self._connection.autocommit = True
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(statement, values)
                return cursor.fetchall() if cursor.description else []
        except psycopg2.Error:
            self._connection.close()
            self._connection = None
            raise


def follow() -> int:
    """Print observations until standard input ends, which happens when the supervisor does."""
    reader, waiting, pending = HeartbeatReader(), list[str](), b""
    first = True
    while True:
        sight = reader.prove_and_read()
        if first and "away" not in sight:
            first = False
            reader.forget_earlier()
        print(json.dumps(sight), flush=True)
        waiting = [line for line in waiting if not _record_line(reader, line)]
        end = time.monotonic() + POLL_SECONDS
        while (left := end - time.monotonic()) > 0:
            if select.select([0], [], [], left)[0]:
                data = os.read(0, 4096)
                if not data:
                    return 0
                *lines, pending = (pending + data).split(b"\n")
                waiting += [line.decode() for line in lines]


def _record_line(reader: HeartbeatReader, line: str) -> bool:
    kind, pid, silent_s = line.split()
    try:
        reader.record_replacement(kind, int(pid), float(silent_s))
    except psycopg2.Error:
        return False
    return True


def healthy(kind: str) -> int:
    """Wait for a new proof; the older the last one is, the fewer observations are allowed."""
    reader = HeartbeatReader()
    try:
        age = reader.age(kind)
    except psycopg2.Error as error:
        return _unhealthy(str(error).partition("\n")[0])
    monitor = LivenessMonitor(most_looks=max(FEWEST_LOOKS, MOST_LOOKS - int(age / POLL_SECONDS)))
    first: tuple[int, int] | None = None
    for _ in range(MOST_LOOKS + 1):
        sight = parse_observation(reader.read_kind(kind))
        if sight is None or kind not in sight.heartbeats:
            return _unhealthy(f"{kind} has proved nothing yet, or the database is away")
        found = sight.heartbeats[kind]
        first = first or found
        if found != first:
            return 0
        pids = {name: pid for name, (pid, _beats) in sight.heartbeats.items()}
        for silent in monitor.observe(sight, pids, time.monotonic()):
            if silent.kind == kind:
                return _kill(reader, silent)
        time.sleep(POLL_SECONDS)
    return _unhealthy(f"{kind} waits for Redis or beat")


def _kill(reader: HeartbeatReader, silent: SilentProcess) -> int:
    reader.record_replacement(silent.kind, silent.pid, silent.seconds)
    with suppress(ProcessLookupError):  # it may have ended since
        os.kill(silent.pid, signal.SIGKILL)
    return _unhealthy(f"{silent.kind} has done nothing for {silent.seconds:.0f} s and was killed")


def _unhealthy(why: str) -> int:
    print(why)
    return 1


def main(command: str, *names: str) -> int:
    return healthy(*names) if command == "healthy" else follow()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
