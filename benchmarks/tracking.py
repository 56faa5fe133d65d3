"""How fast points of metrics are taken in, merged and drawn, database included.

    python -m plstack.launch exec python -m benchmarks.tracking [--points 1000000] [--json]

In a scratch database (plstack_tracking) beside that of DATABASE_OWNER_URL, made for this and dropped at the end.
`taken`: batches of 1,000 points of one series, and (`wide`) of 1,000 series with one point each, through
`services.add_points`, points a second. `merged`: the same points into chunks. `chart`: all points of the series in
1,000 buckets, the median of nine. Values are noise around a falling curve. Wall-clock and processor time of this
process; the server's is beside it. Say the load of the machine with the figures.
"""

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.test")
django.setup()

from django.db import connection  # noqa: E402  after set-up

from apps.common.actor import Channel, system_actor  # noqa: E402
from apps.common.scoping import acting  # noqa: E402
from apps.tracking import merging, selectors, services  # noqa: E402
from apps.tracking.points import Point  # noqa: E402
from apps.tracking.selectors import Axis  # noqa: E402
from plstack import celery  # noqa: E402, F401  nudges go where these settings say
from tests.builders import make_world, submit_workload  # noqa: E402

BATCH = 1_000
TURNS = 9


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """(wall, CPU) seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def run() -> UUID:
    world = make_world()
    with acting(world.actor):
        return submit_workload(world).pk


def one_series(count: int) -> list[list[Point]]:
    chance, began = random.Random(1), time.time() - count  # noqa: S311
    values = (1 / (1 + step / 1e5) + chance.gauss(0, 0.01) for step in range(count))
    points = [Point("loss", value, step, began + step) for step, value in enumerate(values)]
    return [points[start : start + BATCH] for start in range(0, count, BATCH)]


def many_series(batches: int) -> list[list[Point]]:
    now = time.time() - batches
    return [[Point(f"m{number}", 0.5, step, now + step) for number in range(BATCH)] for step in range(batches)]


def take(run_id: UUID, batches: list[list[Point]]) -> None:
    for batch in batches:
        services.add_points(run_id=run_id, points=batch)


def merge(run_id: UUID) -> None:
    while merging.merge(run_id):
        pass


def measure(count: int) -> dict[str, Any]:
    long, wide = run(), run()
    points, broad = one_series(count), many_series(100)
    taken, taken_wide = timed(lambda: take(long, points)), timed(lambda: take(wide, broad))
    merged = timed(lambda: merge(long))
    charts = [timed(lambda: selectors.curves([long], ["loss"], axis=Axis.STEP, points=1_000)) for _turn in range(TURNS)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(pg_column_size(points) + pg_column_size(outline)) FROM tracking_pointchunk")
        (size,) = cursor.fetchone()
    return {
        "load": round(os.getloadavg()[0], 1),
        "points": count,
        "taken_per_s": round(count / taken[0]),
        "taken_per_cpu_s": round(count / taken[1]),
        "wide_taken_per_s": round(len(broad) * BATCH / taken_wide[0]),
        "wide_taken_per_cpu_s": round(len(broad) * BATCH / taken_wide[1]),
        "merged_per_s": round(count / merged[0]),
        "merged_per_cpu_s": round(count / merged[1]),
        "chart_ms": round(statistics.median(wall for wall, _cpu in charts) * 1000),
        "chart_cpu_ms": round(statistics.median(cpu for _wall, cpu in charts) * 1000),
        "bytes_per_point": round(int(size) / count, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    connection.settings_dict["TEST"]["NAME"] = "plstack_tracking"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        with acting(system_actor(Channel.COMMAND)):
            result = measure(asked.points)
    finally:
        connection.creation.destroy_test_db("", verbosity=0)
    print(json.dumps(result) if asked.json else "\n".join(f"{name}: {value}" for name, value in result.items()))


if __name__ == "__main__":
    main()
