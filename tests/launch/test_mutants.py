"""Mutation tests: rooms that are there, and what counts as enough."""

import configparser
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import Phase, settings

from plstack.launch import mutants
from plstack.launch.layout import ROOT, Layout
from plstack.launch.mutant_results import Equivalent, Mutant, equivalents, standing, summary, survivors
from plstack.launch.report import Trouble
from tests import mutant_order
from tests.mutant_order import FROM_THE_MODULE, KILLS, MUTANT, Kill, likely
from tests.searching import FEW, UNSHRUNK


@pytest.mark.parametrize("name", mutants.ROOMS)
def test_every_room_has_modules_and_tests(name: str) -> None:
    room = mutants.ROOMS[name]
    assert all(list(ROOT.glob(pattern)) for pattern in room.modules)
    assert all((ROOT / path).exists() for path in room.tests)


def test_a_rooms_settings_are_what_mutmut_reads() -> None:
    parser = configparser.ConfigParser()
    parser.read_string(mutants.configuration(mutants.ROOMS["arithmetic"]))
    assert parser["mutmut"]["only_mutate"].split() == ["apps/billing/arithmetic.py"]
    assert parser["mutmut"]["pytest_add_cli_args_test_selection"].split() == ["tests/billing/test_arithmetic.py"]
    assert f"--hypothesis-profile={UNSHRUNK}" in parser["mutmut"]["pytest_add_cli_args"].split()


def test_an_example_that_fails_is_not_made_smaller_in_mutation_tests() -> None:
    unshrunk, few = settings.get_profile(UNSHRUNK), settings.get_profile(FEW)
    assert Phase.shrink not in unshrunk.phases
    assert (unshrunk.max_examples, unshrunk.derandomize) == (few.max_examples, few.derandomize)


def test_a_mutant_first_meets_what_noticed_its_neighbours() -> None:
    kills = [
        Kill("a.x_rule", "once"),
        *[Kill("a.x_rule", "often")] * 2,
        *[Kill("a.x_other", "near")] * 3,
        *[Kill("b.x_rule", "elsewhere")] * 9,
    ]
    assert likely("a.x_rule", kills) == ["often", "once", "near"]
    assert likely("a.x_new", kills) == ["near", "often", "once"]
    assert likely("c.x_rule", kills) == []
    many = [Kill("a.x_other", str(number)) for number in range(FROM_THE_MODULE + 1)]
    assert len(likely("a.x_rule", many)) == FROM_THE_MODULE


def test_which_test_noticed_a_mutant_is_remembered_and_asked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def order() -> list[str]:
        items = [SimpleNamespace(nodeid=name) for name in ("quick", "slow[a b]", "slower")]
        next(mutant_order.pytest_collection_modifyitems(items))  # type: ignore[arg-type]
        return [item.nodeid for item in items]

    def finished(test: str, *, failed: bool) -> None:
        mutant_order.pytest_runtest_logreport(SimpleNamespace(nodeid=test, failed=failed))  # type: ignore[arg-type]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(MUTANT, "a.x_rule__mutmut_1")
    assert order() == ["quick", "slow[a b]", "slower"]
    finished("quick", failed=False)
    finished("slow[a b]", failed=True)
    monkeypatch.setenv(MUTANT, "a.x_rule__mutmut_2")
    assert order() == ["slow[a b]", "quick", "slower"]
    for no_mutant in ("", "stats", "fail"):
        monkeypatch.setenv(MUTANT, no_mutant)
        finished("quick", failed=True)
        assert order() == ["quick", "slow[a b]", "slower"]
    assert KILLS.read_text() == "a.x_rule slow[a b]\n"


def lines_of_mutmut(*outcomes: str) -> list[tuple[str, str]]:
    text = "".join(f"    a.x_rule__mutmut_{n}: {outcome}\n" for n, outcome in enumerate(outcomes, start=1))
    return mutants.RESULT.findall(text)


def survivor(number: int) -> Mutant:
    return Mutant(f"a.x_rule__mutmut_{number}", "survived", "a.rule", "return 1", f"return {number}")


@pytest.mark.parametrize(("killed", "enough"), [(9, True), (8, False)])
def test_nine_in_ten_have_to_be_killed(killed: int, enough: bool) -> None:
    results = lines_of_mutmut(*["killed"] * killed, *["survived"] * (10 - killed))
    left = [survivor(number) for number in range(killed + 1, 11)]
    text, passed = summary("a", results, left, [], sampled=False)
    assert passed is enough
    assert text.splitlines()[:4] == [
        f"a: {killed} of 10 killed, {killed * 10}%; 0 equivalent, 0 not tried",
        f"  a.x_rule__mutmut_{killed + 1}: survived",
        "    - return 1",
        f"    + return {killed + 1}",
    ]


def test_a_loop_without_an_end_counts_as_noticed() -> None:
    text, passed = summary("a", lines_of_mutmut("timeout", "killed"), [], [], sampled=False)
    assert text.splitlines() == [
        "a: 2 of 2 killed, 100%; 0 equivalent, 0 not tried",
        "  a.x_rule__mutmut_1: its tests came to no end in the time that they were given",
    ]
    assert passed


def test_an_equivalent_mutant_counts_neither_way() -> None:
    known = [Equivalent("a.rule", "return 1", "return 2", "why")]
    text, passed = summary("a", lines_of_mutmut("killed", "survived"), [survivor(2)], known, sampled=False)
    assert (text, passed) == ("a: 1 of 1 killed, 100%; 1 equivalent, 0 not tried", True)


def test_an_equivalent_mutant_that_is_not_there_fails_the_room() -> None:
    known = [Equivalent("a.rule", "return 1", "return 2", "why")]
    text, passed = summary("a", lines_of_mutmut("killed", "killed"), [], known, sampled=False)
    assert passed is False
    assert "take it off the list: a.rule: return 2" in text
    assert summary("a", lines_of_mutmut("killed"), [], known, sampled=True)[1] is True


def test_what_was_not_tried_fails_a_room_that_is_not_sampled() -> None:
    results = lines_of_mutmut("killed", "not checked")
    assert summary("a", results, [], [], sampled=False)[1] is False
    assert summary("a", results, [], [], sampled=True) == ("a: 1 of 1 killed, 100%; 0 equivalent, 1 not tried", True)


def test_a_room_in_which_nothing_was_tried_does_not_pass() -> None:
    assert summary("a", [], [], [], sampled=False) == ("a: mutmut tried nothing", False)
    assert summary("a", lines_of_mutmut("not checked"), [], [], sampled=True)[1] is False


MUTATED = """
def x_rule__mutmut_orig(a, b=1):
    return max(
        a,
        b,
    )

def x_rule__mutmut_1(a, b=2):
    return max(
        a,
        b,
    )

class Book:
    def xǁBookǁtake__mutmut_orig(self):
        self.used += 1

    def xǁBookǁtake__mutmut_2(self):
        self.used -= 1
"""


def test_a_survivor_is_shown_by_the_line_that_was_changed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.py").write_text(MUTATED)
    results = [("a.b.x_rule__mutmut_1", "survived"), ("a.b.xǁBookǁtake__mutmut_2", "no tests"), ("a.b.x", "killed")]
    assert survivors(tmp_path, results) == [
        Mutant("a.b.x_rule__mutmut_1", "survived", "a.b.rule", "def (a, b=1):", "def (a, b=2):"),
        Mutant("a.b.xǁBookǁtake__mutmut_2", "no tests", "a.b.Book.take", "self.used += 1", "self.used -= 1"),
    ]


def test_what_survived_before_is_tried_again_unless_it_is_equivalent(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.py").write_text(MUTATED)
    rule, take = "a.b.x_rule__mutmut_1", "a.b.xǁBookǁtake__mutmut_2"
    found = [(rule, "survived"), (take, "survived")]
    assert standing(tmp_path, [(rule, "survived"), (take, "not checked")], found, []) == [rule]
    assert standing(tmp_path, found, [(rule, "killed"), (take, "survived")], []) == [take]
    known = [Equivalent("a.b.rule", "def (a, b=1):", "def (a, b=2):", "why")]
    assert standing(tmp_path, found, found, known) == [take]


def test_equivalent_mutants_are_of_functions_that_are_there_and_say_why() -> None:
    for each in equivalents():
        assert each.why
        room = next(room for room in mutants.ROOMS.values() if each.is_of(room.modules))
        files = [file for pattern in room.modules for file in ROOT.glob(pattern)]
        assert any(each.was.split(" … ")[0] in " ".join(file.read_text().split()) for file in files), each


def test_an_unknown_room_is_refused_before_anything_starts() -> None:
    with pytest.raises(Trouble, match="no room nowhere"):
        mutants.mutants(Layout.from_environ(), ["nowhere"])


def test_the_copy_is_the_checkout_and_keeps_what_mutmut_made(tmp_path: Path) -> None:
    (tmp_path / "mutants").mkdir()
    (tmp_path / "mutants" / "kept").write_text("")
    mutants._copy(ROOT, tmp_path)
    assert (tmp_path / "pyproject.toml").read_bytes() == (ROOT / "pyproject.toml").read_bytes()
    assert (tmp_path / "mutants" / "kept").exists()
    assert not {"var", "node_modules", ".git"} & {path.name for path in tmp_path.iterdir()}
