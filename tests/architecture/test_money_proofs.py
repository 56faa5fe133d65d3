"""Each promise about money names tests that are there, and nothing writes money that no kill point has looked at."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.billing.invariants import INVARIANTS

ROOT = Path(__file__).resolve().parents[2]
BILLING = "apps.billing"
# What a death cannot leave half done in a way that anybody pays for, with why no kill point is spent on it.
ELSEWHERE = {
    "adjustments.services.post_adjustment": "in the transaction of recharge_review.adjust, which is killed",
    "arrears.services.set_arrears_terms": "one row of terms with its entry in the log",
    "budgets.services.create_budget": "warns only",
    "budgets.services.update_budget": "warns only",
    "budgets.services.delete_budget": "warns only",
    "caps.services.set_cap": "one row with its entry in the log",
    "prices.packages.services.update_package": "a name and a switch with their entry in the log",
    "changes.services.try_out": "undoes whatever it has done",
    "changes.services.why_second": "locks a row and writes nothing",
    "changes.services.offer_package": "a package and its first price, each of which is killed by itself",
    "holds.services.hold_for_start": "in the transaction of the start, which tests/workloads kills",
    "holds.services.release_hold": "in the transaction of the end, which tests/workloads kills",
    "invoices.titles.remove_title": "one row with its entry in the log",
    "ledger.services.post_once": "the movement itself: every kill point of money passes through it",
    "prepaid.services.set_renewal": "one row with its entry in the log",
    "recharges.received.keep_received": "one row with its entry in the log",
    "recharges.services.set_credit_limit": "one row with its entry in the log",
    "payments.alipay.refunds.adopt": "in the transaction of book_refund",
    "requests.services.restrict_packages": "moves nothing",
    "requests.services.set_needs_review": "moves nothing",
    "requests.services.request_package": "moves nothing",
    "requests.services.withdraw_request": "moves nothing",
    "requests.services.revoke_approval": "moves nothing",
    "payments.reconciliation.comparing.ensure_day": "an empty row of a day",
    "exports.states.fail": "in the transaction of the worker that tells of it, which is killed",
}


def named_tests() -> list[str]:
    return sorted({name for names in INVARIANTS.values() for name in names})


@pytest.mark.parametrize("name", named_tests())
def test_each_named_proof_is_there(name: str) -> None:
    path, _colons, test = name.partition("::")
    tree = ast.parse((ROOT / "tests" / path).read_text())
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_promise_has_a_proof() -> None:
    assert all(INVARIANTS.values())
    assert sum(name[0].isdigit() for name in INVARIANTS) == 13


def public_functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Of billing, by their dotted names below it."""
    for path in sorted((ROOT / "apps" / "billing").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT / "apps" / "billing").with_suffix("").parts)
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and path.parent.name != "migrations":
                yield f"{module}.{node.name}", node


def writers() -> set[str]:
    """Those that open a transaction."""
    return {name for name, function in public_functions() if _opens_transaction(function)}


def _opens_transaction(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "atomic" for node in ast.walk(function))


@cache
def offered() -> dict[str, str]:
    """What the rooms of billing offer by a shorter name, as the name where it is written."""
    found = {}
    billing = ROOT / "apps" / "billing"
    for path in (*billing.rglob("__init__.py"), billing / "services.py", billing / "selectors.py"):
        room = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        imports = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom)]
        found |= {f"{room}.{each.name}": f"{node.module}.{each.name}" for node in imports for each in node.names}
    return found


@cache
def killed() -> frozenset[str]:
    """The dotted names that the files of kill points call, import, or say that a point was met in."""
    found: set[str] = set()
    for path in sorted((ROOT / "tests").rglob("test_kill*.py")):
        found |= _named(ast.parse(path.read_text()))
    return frozenset(offered().get(name, name).removeprefix(f"{BILLING}.") for name in found)


def _named(tree: ast.Module) -> set[str]:
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    called = {each.asname or each.name: f"{node.module}.{each.name}" for node in imports for each in node.names}
    found = set(called.values())
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in called:
            found.add(f"{called[node.value.id]}.{node.attr}")
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " in apps." in node.value:
            found.add(node.value.partition(" in ")[2])  # a point that the test says it has met
    return found


@pytest.mark.parametrize("name", sorted(writers()))
def test_whatever_writes_money_is_killed_at_every_point(name: str) -> None:
    assert name in killed() or name in ELSEWHERE, f"no kill point and no reason: {name}"


def test_reasons_are_given_for_what_exists() -> None:
    assert set(ELSEWHERE) <= {name for name, _function in public_functions()}
