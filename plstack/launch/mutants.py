"""`make mutants M="arithmetic quotas"`: whether the tests notice when a rule is changed (mutmut), room by room.

Each room is some modules and the tests that are to guard them. mutmut works in a copy of the checkout below
`$PLSTACK_HOME/mutants`, which it keeps: the next run continues there, and only what changed since and what survived is
tried anew (a room of which a sample is tried begins anew). Each mutant meets only those tests that reach its function,
up to the first that fails: those that have noticed another mutant of it, then the quickest (tests/mutant_order.py).
They take the database as the mutant before left it (tests/template.py). A room passes when at least nine in ten of its
mutants are killed; the others are shown with the line that was changed
(plstack/launch/mutant_results.py). Takes minutes to hours, so it is no part of `make test`.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plstack.launch import environment, mutant_results, testing
from plstack.launch.layout import Layout
from plstack.launch.report import Reporter, Trouble

RESULT = re.compile(r"^\s+(?P<name>\S+): (?P<outcome>[a-z ]+)$", re.MULTILINE)
SOURCES = ("plstack", "apps", "scheduler")
ALSO = ("manage.py", "Makefile", "requirements.txt", "locale", "templates", "deploy", "docs", "benchmarks")
WORK = "mutants"  # mutmut's own folder
# Lines that are nothing but a sentence for people: their words are no rule, and other checks read them.
SENTENCES = (
    r"^\s*(return |raise \w+\()?(_|n?p?gettext(_lazy)?)\((\"[^\"]*\"(, )?)+\)+,?$",
    r"^\s*f?\"[^\"]* [^\"]*\"\)*,?$",
)
NO_RULES = ("scheduler/baselines.py",)  # what others do, to be compared with: benchmarks/openb.py
PYTEST = (
    *("-p", "no:schemathesis", "-p", "no:cacheprovider", "-p", "tests.mutant_order"),
    *("--reuse-db", "--hypothesis-profile=unshrunk"),
)
PATIENCE = 3  # seconds that a mutant's tests may always take, times 15: the machine may be busy
LEFT_OUT = ("var", "node_modules", WORK, "__pycache__", ".*")


@dataclass(frozen=True, slots=True)
class Room:
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    sampled: bool = False  # of each function only the first mutant and every tenth after it


EVERY_TENTH = "*__mutmut_*1"

ROOMS: Mapping[str, Room] = {
    "arithmetic": Room(("apps/billing/arithmetic.py",), ("tests/billing/test_arithmetic.py",)),
    "ledger": Room(
        ("apps/billing/ledger/services.py", "apps/billing/holds/services.py"),
        tuple(
            f"tests/billing/test_{name}.py"
            for name in ("ledger", "ledger_accounts", "holds", "hold_ends", "recharge", "vouchers")
        ),
    ),
    "rating": Room(
        ("apps/billing/rating/services.py", "apps/billing/metering/services.py"),
        tuple(
            f"tests/billing/test_{name}.py"
            for name in (
                *("rating", "rating_written", "rating_vouchers", "prepaid_rating"),
                *("metering", "credits", "discounts"),
            )
        ),
    ),
    "quotas": Room(
        ("apps/tenants/quotas/*.py",),
        tuple(f"tests/tenants/test_{name}.py" for name in ("quotas", "quota_books", "quota_refusals", "departments")),
    ),
    "tenancy": Room(
        ("apps/tenants/actors.py", "apps/tenants/authority.py", "apps/common/actor.py", "apps/common/scoping.py"),
        tuple(f"tests/tenants/test_{name}.py" for name in ("actors", "authority", "members", "roles")),
    ),
    "states": Room(  # without those that start programs: each would meet every survivor, for half a minute
        ("apps/workloads/states.py",),
        tuple(f"tests/workloads/test_{name}.py" for name in ("states", "states_written", "either")),
    ),
    "decisions": Room(
        tuple(
            f"scheduler/{name}.py"
            for name in ("preempt", "reservations", "shares", "gangs", "allocator", "engine", "rules")
        ),
        ("tests/scheduler",),
    ),
    "scheduler": Room(("scheduler/*.py",), ("tests/scheduler",), sampled=True),
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
    folder, room = layout.home / "mutants" / name, ROOMS[name]
    _copy(layout.root, folder)
    (folder / "setup.cfg").write_text(configuration(room))
    mutmut: list[str | Path] = [layout.python, "-m", "mutmut"]

    def run(which: Sequence[str]) -> list[tuple[str, str]]:
        # One at a time: the tests of one mutant have the database to themselves.
        subprocess.call([*mutmut, "run", "--max-children", "1", *which], cwd=folder, env={**env, "TERM": "dumb"})
        return results()

    def results() -> list[tuple[str, str]]:
        listed = subprocess.run(
            [*mutmut, "results", "--all", "true"], cwd=folder, env=env, stdout=subprocess.PIPE, text=True, check=False
        )
        return RESULT.findall(listed.stdout)

    known = [each for each in mutant_results.equivalents() if each.is_of(room.modules)]
    before = results()
    found = run([EVERY_TENTH] if room.sampled else [])
    again = mutant_results.standing(folder / WORK, before, found, known)
    if again and not room.sampled:
        found = run(again)
    left = mutant_results.survivors(folder / WORK, found)
    text, enough = mutant_results.summary(name, found, left, known, sampled=room.sampled)
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
        "do_not_mutate": NO_RULES,
        "do_not_mutate_patterns": SENTENCES,
        "also_copy": ALSO,
        "pytest_add_cli_args": PYTEST,
        "pytest_add_cli_args_test_selection": room.tests,
        "timeout_constant": (str(PATIENCE),),
    }
    lists = "".join(f"{key} =\n" + "".join(f"    {value}\n" for value in values) for key, values in settings.items())
    return f"[mutmut]\n{lists}"
