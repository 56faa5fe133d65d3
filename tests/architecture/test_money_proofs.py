"""Each promise about money names tests that are there, and nothing writes money that no kill point has looked at."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.billing.invariants import INVARIANTS

ROOT = Path(__file__).resolve().parents[2]
WRITERS = ("services", "alipay", "exporting")
# What a death cannot leave half done in a way that anybody pays for, with why no kill point is spent on it.
ELSEWHERE = {
    "arrears.set_arrears_terms": "one row of terms with its entry in the log",
    "budgets.create_budget": "warns only",
    "budgets.update_budget": "warns only",
    "budgets.delete_budget": "warns only",
    "caps.set_cap": "one row with its entry in the log",
    "catalogue.update_package": "a name and a switch with their entry in the log",
    "holds.hold_for_start": "in the transaction of the start, which tests/workloads kills",
    "holds.release_hold": "in the transaction of the end, which tests/workloads kills",
    "invoice_titles.remove_title": "one row with its entry in the log",
    "ledger.post_once": "the movement itself: every kill point of money passes through it",
    "prepaid.set_renewal": "one row with its entry in the log",
    "recharge.set_credit_limit": "one row with its entry in the log",
    "refunds.adopt": "in the transaction of take_out",
    "review.restrict": "moves nothing",
    "review.set_needs_review": "moves nothing",
    "review.request_package": "moves nothing",
    "review.withdraw_request": "moves nothing",
    "review.revoke_approval": "moves nothing",
    "reconciliation.planned": "an empty row of a day",
    "states.fail": "in the transaction of the worker that tells of it, which is killed",
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
    """Of billing's writing layers, as `module.function`."""
    for folder in WRITERS:
        for path in sorted((ROOT / "apps" / "billing" / folder).rglob("*.py")):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    yield f"{path.stem}.{node.name}", node


def writers() -> set[str]:
    """Those that open a transaction."""
    return {name for name, function in public_functions() if _opens_transaction(function)}


def _opens_transaction(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "atomic" for node in ast.walk(function))


@cache
def killed() -> frozenset[str]:
    """`module.function` as the files of kill points name them, and `function` of what they take from the services."""
    found: set[str] = set()
    for path in sorted((ROOT / "tests").rglob("test_kill*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found.add(node.attr if node.value.id == "services" else f"{node.value.id}.{node.attr}")
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {f"{node.module.rpartition('.')[2]}.{each.name}" for each in node.names}
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " in apps." in node.value:
                found.add(".".join(node.value.rsplit(".", 2)[-2:]))  # a point that the test says it has met
    return frozenset(found)


@pytest.mark.parametrize("name", sorted(writers()))
def test_whatever_writes_money_is_killed_at_every_point(name: str) -> None:
    assert {name, name.partition(".")[2]} & killed() or name in ELSEWHERE, f"no kill point and no reason: {name}"


def test_reasons_are_given_for_what_exists() -> None:
    assert set(ELSEWHERE) <= {name for name, _function in public_functions()}
