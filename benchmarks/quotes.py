"""How long a quote takes while somebody types, database included.

    python -m benchmarks.quotes [--nodes 1000] [--queued 1000] [--quotes 40] [--json]

In a scratch database (plstack_quotes) beside that of DATABASE_OWNER_URL, made for this and dropped at the end: the
crowd of `benchmarks.crowd` with a tenth of its cards free, scheduling passes over it until nothing more starts (a pass
starts a few hundred at most, and the next one follows at once), then quotes for packages of 1, 2, 4 and 8 cards in
turn, as the card beside the button asks for them (`offers.quoting.offer`: price, balance, quota, forecast).
Before every fourth one something has ended, so that the kept engine has to be told. The first quote makes
the engine; `picker` is one form with all packages (room and forecast of each). Wall-clock and CPU milliseconds of this
process: on a busy machine the latter say more.
"""

import argparse
import json
import os
import random
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.test")
django.setup()

from django.db import connection  # noqa: E402  after set-up

from apps.billing import selectors as funds  # noqa: E402
from apps.billing import services as billing  # noqa: E402
from apps.common.actor import Actor, Channel, system_actor  # noqa: E402
from apps.common.scoping import acting  # noqa: E402
from apps.tenants.actors import organisation_actor  # noqa: E402
from apps.tenants.models import Membership  # noqa: E402
from apps.training.choices import KIND as TRAINING  # noqa: E402
from apps.workloads.offers.picker import package_choices  # noqa: E402
from apps.workloads.offers.quoting import offer  # noqa: E402
from apps.workloads.reconcile.schedule import run_whole_pass  # noqa: E402
from benchmarks.crowd import MODELS, Builder, Crowd  # noqa: E402
from benchmarks.passes import some_end  # noqa: E402
from plstack import celery  # noqa: E402, F401  nudges go where these settings say

BUSY = 0.9


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """(wall, CPU) milliseconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000


def offer_packages() -> None:
    """1, 2, 4 and 8 whole cards of each model."""
    for model, _memory in MODELS:
        for count in (1, 2, 4, 8):
            name = f"{count} x {model}"
            spec = billing.PackageSpec(
                name_en=name,
                name_zh=name,
                cpu_milli=8000 * count,
                memory_mib=65536 * count,
                gpu_count=count,
                gpu_model=model,
                gpu_mode="whole",
            )
            billing.create_package(system_actor(Channel.COMMAND), spec=spec, rate_fen_per_hour=Decimal(100 * count))


def somebody() -> Actor:
    member = Membership.objects.select_related("user").order_by("pk").first()
    if member is None:
        raise RuntimeError("the crowd has members")
    Membership.objects.filter(pk=member.pk).update(role="member")
    return organisation_actor(member.user, member.organisation_id)


def come_to_rest() -> None:
    """Passes, until one starts nothing."""
    while (passed := run_whole_pass(system_actor(Channel.TASK))) is not None and passed.placed:
        pass


def measure(nodes: int, queued: int, quotes: int) -> dict[str, Any]:
    chance = random.Random(1)  # noqa: S311
    Builder(Crowd(nodes, queued, busy=BUSY)).build()
    offer_packages()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    come_to_rest()
    actor, times = somebody(), []
    packages = list(funds.packages(actor).filter(gpu_count__gt=0))
    for number in range(quotes):
        if number % 4 == 3:
            some_end(chance)
        package = packages[number % len(packages)]
        with acting(actor):
            times.append(timed(lambda package=package: offer(actor, package, kind=TRAINING)))  # type: ignore[misc]
    with acting(actor):
        picker = timed(lambda: package_choices(actor, packages))
    wall, cpu = (sorted(values) for values in zip(*times[1:], strict=True))
    return {
        "nodes": nodes,
        "queued": queued,
        "first_ms": round(times[0][0]),
        "p50_ms": round(wall[len(wall) // 2]),
        "p90_ms": round(wall[int(len(wall) * 0.9)]),
        "cpu_p50_ms": round(cpu[len(cpu) // 2]),
        "cpu_p90_ms": round(cpu[int(len(cpu) * 0.9)]),
        "picker_ms": round(picker[0]),
        "picker_cpu_ms": round(picker[1]),
        "packages": len(packages),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--queued", type=int, default=1000)
    parser.add_argument("--quotes", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    connection.settings_dict["TEST"]["NAME"] = "plstack_quotes"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        with acting(system_actor(Channel.COMMAND)):
            result = measure(asked.nodes, asked.queued, asked.quotes)
    finally:
        connection.creation.destroy_test_db("", verbosity=0)
    print(json.dumps(result) if asked.json else "\n".join(f"{name}: {value}" for name, value in result.items()))


if __name__ == "__main__":
    main()
