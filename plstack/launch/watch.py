"""Reads the proofs that processes write into the database (`apps.common.heartbeats`). Runs in the environment.

`python -m plstack.launch.watch follow` stands beside the supervisor, which knows no database: a line of JSON for each
look, {"heartbeats": {kind: [pid, beats]}, "redis": bool} or {"away": why}; on its standard input come those that were
replaced, `KIND PID SECONDS`, to be written down.

`python -m plstack.launch.watch healthy KIND` is the health check of a container: status 0 where the process of that
kind proves itself. One that does not is killed, so that the container ends and is started again.
"""

import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any

import psycopg2
import redis

from plstack.launch.vigil import BEAT, MOST_LOOKS, POLL_SECONDS, Silent, Vigil, looked

CONNECT_SECONDS = 5
# Also a proof that is old already gets this many: after the machine has slept, all of them are.
FEWEST_LOOKS = 3


class Eyes:
    """One connection to the database, made anew after each trouble with it."""

    def __init__(self) -> None:
        self.instance = os.environ.get("PLSTACK_INSTANCE") or socket.gethostname()
        self.redis = redis.Redis.from_url(os.environ["REDIS_URL"], socket_timeout=2, socket_connect_timeout=2)
        self._connection: Any = None

    def look(self) -> dict[str, Any]:
        """At every process of this copy."""
        return self._sight("SELECT kind, pid, beats FROM common_processheartbeat WHERE instance = %s", self.instance)

    def look_at(self, kind: str) -> dict[str, Any]:
        """At one process, and at whether beat, wherever it runs, sends what that one lives on."""
        mine = "SELECT kind, pid, beats FROM common_processheartbeat WHERE instance = %s AND kind = %s"
        beats = (
            "SELECT 'beat', 0, sum(beats)::bigint FROM common_processheartbeat WHERE kind = 'beat' HAVING count(*) > 0"
        )
        if kind == BEAT:
            return self._sight(mine, self.instance, kind)
        return self._sight(f"{mine} UNION ALL {beats}", self.instance, kind)

    def age(self, kind: str) -> float:
        """Seconds since its last proof by the database's clock; 0 where there is none."""
        query = (
            "SELECT extract(epoch FROM clock_timestamp() - beat_at)::float FROM common_processheartbeat "
            "WHERE instance = %s AND kind = %s"
        )
        return float(next(iter(self._ask(query, self.instance, kind)), (0.0,))[0])

    def _sight(self, statement: str, *values: object) -> dict[str, Any]:
        try:
            rows = self._ask(statement, *values)
        except psycopg2.Error as error:
            return {"away": str(error).partition("\n")[0]}
        return {"heartbeats": {kind: [pid, beats] for kind, pid, beats in rows}, "redis": self._redis_answers()}

    def prove(self) -> dict[str, Any]:
        """A look that begins with a proof of its own: where nobody can write, silence says nothing."""
        try:
            self._ask(
                "INSERT INTO common_processheartbeat AS one (kind, instance, pid, beats) "
                "VALUES ('supervisor', %s, %s, 1) ON CONFLICT (kind, instance) DO UPDATE "
                "SET pid = excluded.pid, beats = one.beats + 1, beat_at = clock_timestamp()",
                self.instance, os.getppid(),
            )  # fmt: skip
        except psycopg2.Error as error:
            return {"away": str(error).partition("\n")[0]}
        return self.look()

    def forget_earlier(self) -> None:
        """Processes of an earlier start of this copy, some of which may be switched off now."""
        self._ask("DELETE FROM common_processheartbeat WHERE instance = %s", self.instance)

    def replaced(self, kind: str, pid: int, silent_s: float) -> None:
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
    """Until standard input ends, which it does with the supervisor."""
    eyes, waiting, pending = Eyes(), list[str](), b""
    first = True
    while True:
        sight = eyes.prove()
        if first and "away" not in sight:
            first = False
            eyes.forget_earlier()
        print(json.dumps(sight), flush=True)
        waiting = [line for line in waiting if not _write_down(eyes, line)]
        end = time.monotonic() + POLL_SECONDS
        while (left := end - time.monotonic()) > 0:
            if select.select([0], [], [], left)[0]:
                data = os.read(0, 4096)
                if not data:
                    return 0
                *lines, pending = (pending + data).split(b"\n")
                waiting += [line.decode() for line in lines]


def _write_down(eyes: Eyes, line: str) -> bool:
    kind, pid, silent_s = line.split()
    try:
        eyes.replaced(kind, int(pid), float(silent_s))
    except psycopg2.Error:
        return False
    return True


def healthy(kind: str) -> int:
    """Looks until there is a new proof; the older the last one is, the sooner it gives up."""
    eyes = Eyes()
    try:
        age = eyes.age(kind)
    except psycopg2.Error as error:
        return _unwell(str(error).partition("\n")[0])
    vigil = Vigil(most_looks=max(FEWEST_LOOKS, MOST_LOOKS - int(age / POLL_SECONDS)))
    first: tuple[int, int] | None = None
    for _ in range(MOST_LOOKS + 1):
        sight = looked(eyes.look_at(kind))
        if sight is None or kind not in sight.heartbeats:
            return _unwell(f"{kind} has proved nothing yet, or the database is away")
        found = sight.heartbeats[kind]
        first = first or found
        if found != first:
            return 0
        pids = {name: pid for name, (pid, _beats) in sight.heartbeats.items()}
        for silent in vigil.observe(sight, pids, time.monotonic()):
            if silent.kind == kind:
                return _end(eyes, silent)
        time.sleep(POLL_SECONDS)
    return _unwell(f"{kind} waits for Redis or beat")


def _end(eyes: Eyes, silent: Silent) -> int:
    eyes.replaced(silent.kind, silent.pid, silent.seconds)
    os.kill(silent.pid, signal.SIGKILL)
    return _unwell(f"{silent.kind} has done nothing for {silent.seconds:.0f} s and was killed")


def _unwell(why: str) -> int:
    print(why)
    return 1


def main(command: str, *names: str) -> int:
    return healthy(*names) if command == "healthy" else follow()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
