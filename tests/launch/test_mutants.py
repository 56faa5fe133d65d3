"""Mutation tests: rooms that are there, and what counts as enough."""

import configparser
from pathlib import Path

import pytest

from plstack.launch import mutants
from plstack.launch.layout import ROOT, Layout
from plstack.launch.report import Trouble


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


@pytest.mark.parametrize(("killed", "enough"), [(9, True), (8, False)])
def test_nine_in_ten_have_to_be_killed(killed: int, enough: bool) -> None:
    lines = [f"    a.x_rule__mutmut_{n}: {'killed' if n < killed else 'survived'}\n" for n in range(10)]
    text, passed = mutants.summary("a", mutants.RESULT.findall("".join(lines)))
    assert passed is enough
    assert text.splitlines()[0] == f"a: {killed} of 10 killed, {killed * 10}%"
    assert f"    a.x_rule__mutmut_{killed}: survived" in text


def test_a_room_in_which_nothing_was_tried_does_not_pass() -> None:
    assert mutants.summary("a", []) == ("a: mutmut tried nothing", False)


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
