"""What the check of licences lets pass, and what it finds."""

import json
from pathlib import Path

import pytest

from plstack.launch.checks import licences
from plstack.launch.checks.licence_rules import ALLOWED, DEVELOPMENT_ONLY, RULINGS
from plstack.launch.checks.licences import Dependency

PAGE = "| absent | MIT | platform |\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for lock in licences.USES:
        (tmp_path / lock).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / lock).write_text("")
    (tmp_path / "deploy/locks/quickstart.txt").write_text("Django==5 \\\n    --hash=sha256:0\nabsent==1 ; x\n")
    (tmp_path / "deploy/locks/dev.txt").write_text("django==5\nnew_thing==1\ndjlint==1\n")
    packages = {"": {}, "node_modules/a": {"license": "MIT"}, "node_modules/a/node_modules/@b/c": {}}
    (tmp_path / "package-lock.json").write_text(json.dumps({"packages": packages}))
    return tmp_path


def test_each_package_is_listed_once_with_its_first_use(checkout: Path) -> None:
    found = licences.python(checkout, {"django": "BSD-3-Clause", "new-thing": None, "djlint": "GPL-3.0-or-later"}, PAGE)
    assert list(found) == [
        Dependency("absent", "platform", "MIT"),
        Dependency("django", "platform", "BSD-3-Clause"),
        Dependency("djlint", "development", "GPL-3.0-or-later"),
        Dependency("new-thing", "development", None),
    ]


def test_the_front_ends_packages_are_named_without_their_folders(checkout: Path) -> None:
    assert list(licences.front_end(checkout)) == [
        Dependency("@b/c", licences.FRONT_END, None),
        Dependency("a", licences.FRONT_END, "MIT"),
    ]


@pytest.mark.parametrize(
    ("licence", "use", "complaint"),
    [
        (None, "platform", "not known"),
        ("GPL-3.0-or-later", "platform", "not among"),
        ("MIT AND SSPL-1.0", "development", "not among"),
        ("GPL-3.0-or-later", "development", ""),
        ("EPL-2.0 OR GPL-2.0-or-later", "platform", ""),
        ("(MIT AND Zlib)", "front end", ""),
    ],
)
def test_a_licence_is_known_and_allowed_for_the_use(licence: str | None, use: str, complaint: str) -> None:
    problems = list(licences.refusals([Dependency("thing", use, licence)]))
    assert [complaint in problem for problem in problems] == ([True] if complaint else [])


def test_decisions_by_hand_are_of_allowed_licences() -> None:
    assert all(licences.may_be_used(licence, ALLOWED) for licence in RULINGS.values())
    assert not ALLOWED & DEVELOPMENT_ONLY
