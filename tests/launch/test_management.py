"""`make manage` runs a management command beside the running copy, and nowhere else."""

import os
from pathlib import Path

import pytest

from plstack.launch import cli, management
from plstack.launch.control import RunningPlatform
from plstack.launch.layout import Layout
from plstack.launch.report import Trouble


class Became(Exception):
    """Instead of another program."""


@pytest.fixture
def became(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    found: list[object] = []

    def become(program: Path, argv: list[str], env: dict[str, str]) -> None:
        found.extend([program, argv, env])
        raise Became

    monkeypatch.setattr(os, "execve", become)
    monkeypatch.chdir(Path.cwd())
    return found


def test_without_a_running_copy_it_says_so(layout: Layout, became: list[object]) -> None:
    with pytest.raises(Trouble, match="start it with make run"):
        management.manage(layout, ["check"])
    assert became == []


@pytest.mark.parametrize(("typed", "given"), [(["join_token", "--help"], ["join_token", "--help"]), ([], ["help"])])
def test_the_command_has_the_copys_addresses_and_not_its_owners(
    layout: Layout, became: list[object], monkeypatch: pytest.MonkeyPatch, typed: list[str], given: list[str]
) -> None:
    monkeypatch.setattr(management, "running_platform", lambda _layout: RunningPlatform(layout.address, 1))
    monkeypatch.setenv("DATABASE_OWNER_URL", "postgresql://owner")
    with pytest.raises(Became):
        management.manage(layout, typed)
    program, argv, env = became
    assert (program, argv) == (layout.python, [str(layout.python), "manage.py", *given])
    assert isinstance(env, dict)
    assert env["DATABASE_URL"].startswith("postgresql://plstack_app:")
    assert env["REDIS_URL"].startswith("unix://")
    assert (env["PLSTACK_HOME"], "DATABASE_OWNER_URL" in env) == (str(layout.home), False)
    assert Path.cwd() == layout.root


def test_servers_of_elsewhere_are_taken_from_the_variables(home: Path) -> None:
    urls = {"DATABASE_URL": "postgresql://app", "REDIS_URL": "redis://x", "PLSTACK_REGISTRY_URL": "https://r"}
    layout = Layout.from_environ({**urls, "PLSTACK_HOME": str(home)})
    found = management.services_of(layout, None, None, None)
    assert (found.database_url, found.redis_url, found.registry_socket) == ("postgresql://app", "redis://x", "")


def test_its_options_are_passed_on() -> None:
    assert cli.PASSING_ON["manage"][0] is management.manage
