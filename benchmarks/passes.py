"""How long the scheduler's passes take as the platform runs them, database included.

    python -m benchmarks.passes [--nodes 10000] [--queued 100000] [--passes 12] [--said] [--json]

In a scratch database (plstack_passes) beside that of DATABASE_OWNER_URL, made for this and dropped at the end:
machines with eight cards each, all of them taken (1, 2, 4 or 8 whole cards a task), and a queue of tasks that want the
same. The first pass starts from nothing: it reads everything and makes its engine. Then, before each further pass,
0.2 % of what runs ends and as many new tasks arrive, so that a pass has something to start, and most of the queue
waits on. Figures are wall-clock seconds of `apps.workloads.reconcile.schedule.passed_over` by phase (read, plan, write;
the rest is lock, commit and notices), and the CPU seconds of this process: on a busy machine the latter say more. The
long queue's causes are written a thousand in a pass, so the passes right after the first are about writing, and the
last ones, of which the median is given as "steady", about the rest. A queue of 100,000 has more causes than so many
passes can write: `--said` lets the second pass write all that are left, so that those after it find a queue at rest.
"""

import argparse
import json
import os
import random
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.test")
django.setup()

from django.db import connection  # noqa: E402  after set-up
from django.db.models.functions import Now  # noqa: E402

from apps.common.actor import Channel, system_actor  # noqa: E402
from apps.common.scoping import acting  # noqa: E402
from apps.workloads.choices import PLACED, Status  # noqa: E402
from apps.workloads.models import Attempt, Placement, Workload  # noqa: E402
from apps.workloads.reconcile import explanations  # noqa: E402
from apps.workloads.reconcile.schedule import PassResult, run_whole_pass  # noqa: E402
from benchmarks.crowd import Builder, Crowd  # noqa: E402
from plstack import celery  # noqa: E402, F401  nudges go where these settings say

ENDING = 0.002


@dataclass(frozen=True, slots=True)
class Figures:
    """Seconds of one pass; `cpu_s` of this process alone, the database's own work comes on top."""

    placed: int
    waiting: int
    unsaid: int
    wall_s: float
    cpu_s: float
    read_s: float
    plan_s: float
    write_s: float


@contextmanager
def scratch_database() -> Iterator[None]:
    connection.settings_dict["TEST"]["NAME"] = "plstack_passes"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db("", verbosity=0)


def one_pass() -> Figures:
    wall, cpu = time.perf_counter(), time.process_time()
    passed = run_whole_pass(system_actor(Channel.TASK)) or PassResult()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    seconds = (round(value, 3) for value in (wall, cpu, passed.read_s, passed.plan_s, passed.write_s))
    return Figures(passed.placed, passed.waiting, passed.unsaid, *seconds)


def some_end(chance: random.Random) -> int:
    """End a share of what runs, as reconcile would leave it; how many."""
    live = list(Workload.objects.filter(status__in=PLACED).order_by("pk").values_list("pk", flat=True))
    ended = chance.sample(live, max(1, round(len(live) * ENDING)))
    Placement.objects.filter(attempt__workload__in=ended, released_at__isnull=True).update(released_at=Now())
    Attempt.objects.filter(workload__in=ended, ended_at__isnull=True).update(ended_at=Now())
    return int(Workload.objects.filter(pk__in=ended).update(status=Status.SUCCEEDED, ended_at=Now()))


def say_everything() -> None:
    """One pass that writes every cause there is, however many."""
    most, explanations.CHANGED = explanations.CHANGED, sys.maxsize
    try:
        print("all said:", one_pass(), flush=True)
    finally:
        explanations.CHANGED = most


def measure(nodes: int, queued: int, passes: int, *, said: bool) -> list[Figures]:
    builder, chance = Builder(Crowd(nodes, queued)), random.Random(1)  # noqa: S311
    builder.build()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    figures: list[Figures] = []
    for number in range(passes):
        if number == 1 and said:
            say_everything()
        if number:
            builder.arrive(some_end(chance))
        figures.append(one_pass())
        print(figures[-1], flush=True)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--queued", type=int, default=100_000)
    parser.add_argument("--passes", type=int, default=12)
    parser.add_argument("--said", action="store_true", help="write all causes in the second pass")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with scratch_database(), acting(system_actor(Channel.COMMAND)):
        figures = measure(asked.nodes, asked.queued, asked.passes, said=asked.said)
    steady = sorted(figures[len(figures) // 2 :], key=lambda each: each.wall_s)
    result = {
        "nodes": asked.nodes,
        "queued": asked.queued,
        "first": asdict(figures[0]),
        "steady": asdict(steady[len(steady) // 2]),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    if asked.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
