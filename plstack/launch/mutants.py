"""`make mutants M="arithmetic quotas"`: whether the tests notice when a rule is changed (mutmut), room by room.

Each room is some modules and the tests that are to guard them. mutmut works in a copy of the checkout below
`$PLSTACK_HOME/mutants`, which it keeps: the next run continues there, and only what changed since is tried anew. A room
passes when at least `WANTED` of its mutants are killed; the others are named, to be looked at with
`mutmut show <name>` in that folder. Takes minutes to hours, so it is no part of `make test`.
"""

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plstack.launch import environment, testing
from plstack.launch.layout import Layout
from plstack.launch.report import Reporter, Trouble

WANTED = 0.9
# An endless loop is noticed by the time that it takes.
KILLED = frozenset({"killed", "timeout", "segfault", "caught by type check"})
RESULT = re.compile(r"^\s+(?P<name>\S+): (?P<outcome>[a-z ]+)$", re.MULTILINE)
SOURCES = ("plstack", "apps", "scheduler")
ALSO = ("manage.py", "Makefile", "requirements.txt", "locale", "templates", "deploy", "docs", "benchmarks")
WORK = "mutants"  # mutmut's own folder
LEFT_OUT = ("var", "node_modules", WORK, "__pycache__", ".*")


@dataclass(frozen=True, slots=True)
class Room:
    modules: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS: Mapping[str, Room] = {
    "arithmetic": Room(("apps/billing/arithmetic.py",), ("tests/billing/test_arithmetic.py",)),
    "ledger": Room(
        ("apps/billing/ledger/services.py", "apps/billing/holds/services.py"),
        tuple(f"tests/billing/test_{name}.py" for name in ("ledger", "holds", "recharge", "vouchers")),
    ),
    "rating": Room(
        ("apps/billing/rating/services.py", "apps/billing/metering/services.py"),
        tuple(f"tests/billing/test_{name}.py" for name in ("rating", "metering", "credits", "discounts")),
    ),
    "quotas": Room(
        ("apps/tenants/quotas/*.py",), ("tests/tenants/test_quotas.py", "tests/tenants/test_departments.py")
    ),
    "tenancy": Room(
        ("apps/tenants/actors.py", "apps/tenants/authority.py", "apps/common/actor.py", "apps/common/scoping.py"),
        tuple(f"tests/tenants/test_{name}.py" for name in ("actors", "members", "roles")),
    ),
    "states": Room(
        ("apps/workloads/states.py",),
        tuple(f"tests/workloads/test_{name}.py" for name in ("states", "running", "preempt", "lost_nodes")),
    ),
    "scheduler": Room(("scheduler/*.py",), ("tests/scheduler",)),
}


def mutants(layout: Layout, names: list[str]) -> int:
    """Try the named rooms, or all; 1 where one of them kills too few."""
    unknown = [name for name in names if name not in ROOMS]
    if unknown:
        raise Trouble(f"there is no room {', '.join(unknown)}; there are: {', '.join(ROOMS)}")
    reporter = Reporter(1)
    testing.set_up(layout, Reporter(2))
    with reporter.step("mutmut") as step:
        environment.ensure(layout, "mutants", step)
    with testing.servers(layout) as env:
        passed = [_try(layout, env, name) for name in names or ROOMS]
    return 0 if all(passed) else 1


def _try(layout: Layout, env: Mapping[str, str], name: str) -> bool:
    folder = layout.home / "mutants" / name
    _copy(layout.root, folder)
    (folder / "setup.cfg").write_text(configuration(ROOMS[name]))
    mutmut: list[str | Path] = [layout.python, "-m", "mutmut"]
    # One at a time: the tests of one mutant have the database to themselves.
    subprocess.call([*mutmut, "run", "--max-children", "1"], cwd=folder, env={**env, "TERM": "dumb"})
    listed = subprocess.run(
        [*mutmut, "results", "--all", "true"], cwd=folder, env=env, stdout=subprocess.PIPE, text=True, check=False
    )
    text, enough = summary(name, RESULT.findall(listed.stdout))
    print(text)
    return enough


def _copy(root: Path, folder: Path) -> None:
    """The checkout as it stands, without what is made in it; what mutmut keeps there stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != WORK:
            shutil.rmtree(entry)
        elif entry.is_file():
            entry.unlink()
    shutil.copytree(root, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), dirs_exist_ok=True)


def configuration(room: Room) -> str:
    """mutmut's settings for a room."""
    settings = {
        "source_paths": SOURCES,
        "only_mutate": room.modules,
        "also_copy": (
            "manage.py",
            "Makefile",
            "requirements.txt",
            "locale",
            "templates",
            "deploy",
            "docs",
            "benchmarks",
        ),
        "pytest_add_cli_args": ("-p", "no:schemathesis", "-p", "no:cacheprovider", "--hypothesis-profile=thorough"),
        "pytest_add_cli_args_test_selection": room.tests,
    }
    lists = "".join(f"{key} =\n" + "".join(f"    {value}\n" for value in values) for key, values in settings.items())
    return f"[mutmut]\n{lists}"


def summary(name: str, results: Sequence[tuple[str, str]]) -> tuple[str, bool]:
    """What came of a room in words, and whether it is enough."""
    if not results:
        return f"{name}: mutmut tried nothing", False
    counts = Counter(outcome for _name, outcome in results)
    killed = sum(counts[outcome] for outcome in KILLED)
    left = [f"    {mutant}: {outcome}" for mutant, outcome in results if outcome not in KILLED]
    share = killed / len(results)
    return os.linesep.join([f"{name}: {killed} of {len(results)} killed, {share:.0%}", *left]), share >= WANTED
