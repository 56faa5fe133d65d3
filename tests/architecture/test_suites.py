"""Every test is in a suite that `make test` runs, and what searches at length searches in the properties suite."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from plstack.launch.testing import CONTRACT, PROCESSES, SOAK, SUITES
from plstack.launch.testing import SEARCHING as SEARCHES

TESTS = Path(__file__).parents[1]
SEARCHING = TESTS / "searching.py"
ANYTHING_ELSE = {CONTRACT[0].removeprefix("tests/"), "architecture"}  # a number of its own; this rule itself


LOOKED_FOR = ("max_examples", "run_machine", "run_state_machine_as_test", "killing")
Modules = list[tuple[Path, ast.Module]]


@pytest.fixture(scope="module")
def modules() -> Modules:
    """Those in which one of the names stands that these tests look for.

    Gone with the last of these tests: whatever runs after them would have the garbage collector walk the trees.
    """
    return [
        (path, ast.parse(text))
        for path in sorted(TESTS.rglob("*.py"))
        if path != SEARCHING and path.relative_to(TESTS).parts[0] not in ANYTHING_ELSE
        if any(name in (text := path.read_text()) for name in LOOKED_FOR)
    ]


def name_of(node: ast.expr) -> str:
    """The last part of a name: `run_machine` of `searching.run_machine(...)`."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def marks_of(function: ast.FunctionDef) -> set[str]:
    return {name_of(mark) for mark in function.decorator_list}


def test_no_folder_falls_between_the_suites() -> None:
    assert left_out("quick") == {*PROCESSES, *CONTRACT, *SOAK}
    assert left_out("processes") == {*CONTRACT, *SOAK} <= {*SUITES["contract"], *SUITES["soak"]}
    assert all("tests" in SUITES[name] for name in ("quick", "properties", "processes"))


def left_out(suite: str) -> set[str]:
    return {word.removeprefix("--ignore=") for word in SUITES[suite] if word.startswith("--ignore=")}


def test_what_starts_programs_is_in_one_of_the_two_suites(request: pytest.FixtureRequest) -> None:
    quick, processes = (SUITES[name][SUITES[name].index("-m") + 1] for name in ("quick", "processes"))
    assert quick.endswith("and not programs")
    assert processes.endswith("and programs")
    for item in request.session.items:
        if any(item.path.is_relative_to(TESTS.parent / folder) for folder in PROCESSES):
            assert item.get_closest_marker("programs"), item.nodeid


def test_what_searches_at_length_is_in_the_properties_suite_and_not_in_the_quick_one() -> None:
    quick, properties = (SUITES[name][SUITES[name].index("-m") + 1] for name in ("quick", "properties"))
    assert f"and not ({SEARCHES})" in quick
    assert properties.endswith(f"and ({SEARCHES})")


def test_each_search_has_more_examples_in_the_properties_suite(modules: Modules) -> None:
    for path, tree in modules:
        for call in calls(tree):
            for keyword in call.keywords:
                if keyword.arg == "max_examples":
                    assert name_of(keyword.value) == "examples", f"{path}:{call.lineno}: max_examples=examples(N)"


def test_each_machine_runs_in_the_properties_suite(modules: Modules) -> None:
    found = 0
    for path, tree in modules:
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            called = {name_of(call.func) for call in calls(function)}
            assert "run_state_machine_as_test" not in called, (
                f"{path}:{function.lineno}: use tests.searching.run_machine"
            )
            if "run_machine" in called:
                assert "hypothesis" in marks_of(function), f"{path}:{function.lineno}: mark it @pytest.mark.hypothesis"
                found += 1
    assert found


def test_each_sweep_is_whole_in_the_properties_suite() -> None:
    tree = ast.parse((TESTS / "architecture" / "test_sweep.py").read_text())
    sweeping = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and "some" in {name_of(call.func) for call in calls(node)}
    ]
    assert sweeping
    assert all("sweep" in marks_of(function) for function in sweeping)


def test_each_kill_point_is_in_a_file_of_that_name(modules: Modules) -> None:
    for path, tree in modules:
        froms = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        if path.name.startswith("test_") and any("killing" in module for module in froms):
            assert path.name.startswith("test_kill"), f"{path}: kill points are in files called test_kill_*.py"


def test_kill_points_are_known_by_the_name(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        marked = item.get_closest_marker("kills") is not None
        assert marked == item.path.name.startswith("test_kill"), item.nodeid
