"""The command line; what it does is told in the package's own words."""

import argparse
import json
import logging
import os
import sys

import django

if "PYTHONHASHSEED" not in os.environ:  # sets of texts are walked in an order that follows from it
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.test")
os.environ.setdefault("PLSTACK_LOG_LEVEL", "ERROR")
django.setup()

from datetime import timedelta  # noqa: E402  after set-up
from typing import Any  # noqa: E402

import benchmarks.soak  # noqa: E402
from benchmarks.soak.clock import scratch_database  # noqa: E402
from benchmarks.soak.plan import Plan  # noqa: E402
from benchmarks.soak.run import prepared  # noqa: E402


def main() -> int:
    asked = _arguments()
    logging.disable(logging.WARNING)
    plan = Plan(
        hours=asked.hours or asked.days * 24,
        seed=asked.seed,
        people=asked.people,
        organisations=asked.organisations,
        stride=timedelta(minutes=asked.stride),
        stop_at_first=asked.stop_at_first,
        small=asked.small,
        machines=asked.machines,
        deaths_a_day=asked.deaths,
        bustle=asked.bustle,
        gangs=asked.gangs,
        sets=asked.sets,
        within=timedelta(minutes=asked.within) if asked.within else None,
    )
    with scratch_database(f"plstack_soak_{os.getpid()}", asked.template) as clock, prepared(plan, clock) as soak:
        result = soak.run()
    if asked.json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        _print(result)
    return 1 if result["violations"] else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "benchmarks.soak", description=benchmarks.soak.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--hours", type=int, help="in place of days")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--organisations", type=int, default=5)
    parser.add_argument("--stride", type=int, default=15, help="minutes between two turns of all loops")
    parser.add_argument("--bustle", type=float, default=1.0, help="how many times as often as usual people act")
    parser.add_argument("--gangs", type=float, default=0.15, help="share of the runs that have several members")
    parser.add_argument("--sets", type=float, default=0.04, help="share of the acts that start a set of replicas")
    parser.add_argument("--deaths", type=float, default=2.0, help="machines a day that go silent for up to five hours")
    parser.add_argument("--small", action="store_true", help="machines of two cores, one organisation")
    parser.add_argument("--machines", type=int, default=1, help="how many of two cores")
    parser.add_argument("--within", type=int, help="give up after so many minutes on the wall")
    parser.add_argument("--stop-at-first", action="store_true", help="end with the first violation")
    parser.add_argument("--template", help="a migrated database to copy, in place of migrating anew")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _print(result: dict[str, Any]) -> None:
    for name, value in result.items():
        if name != "violations":
            print(f"{name:>16}  {value}")
    for one in result["violations"]:
        print(f"{one['at']}  {one['invariant']}: {one['text']}")


if __name__ == "__main__":
    sys.exit(main())
