"""JupyterLab in its user's language, with the limits of the package beside what is used."""

import json
from pathlib import Path

import pytest

from apps.common.scoping import acting
from apps.envs import program
from apps.envs.inside.lab_settings import limits_shown, write_settings
from apps.envs.models import Environment
from apps.tenants.models import User
from apps.workloads.tools import tool
from tests.builders import World, platform
from tests.envs import kit

GIVEN = Path(program.CODE) / "lab"
TRANSLATION = "@jupyterlab/translation-extension:plugin"


@pytest.mark.parametrize(("language", "locale"), [("zh-hans", "zh_CN"), ("en", None), ("", None), ("../x", None)])
def test_it_begins_in_its_users_language(tmp_path: Path, language: str, locale: str | None) -> None:
    folder = write_settings(GIVEN, tmp_path / "lab", {"PLSTACK_USER_LANGUAGE": language})
    told = json.loads((folder / "overrides.json").read_text())
    assert told.get(TRANSLATION, {}).get("locale") == locale
    assert told["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false", "all else is as it was"


def test_the_limits_are_those_of_the_package() -> None:
    assert limits_shown({"PLSTACK_MEMORY_MIB": "2048", "PLSTACK_CPU_MILLI": "1500"}) == [
        "--ResourceUseDisplay.mem_limit=2147483648",
        "--ResourceUseDisplay.track_cpu_percent=True",
        "--ResourceUseDisplay.cpu_limit=150.0",
    ]
    assert limits_shown({"PLSTACK_MEMORY_MIB": "2048"}) == [], "started before the platform told them"


def test_each_start_is_told_who_starts_it_and_on_what(world: World) -> None:
    environment = kit.make(world, start=False)
    with acting(platform()):
        User.objects.filter(pk=world.alice.pk).update(language="zh-hans")
        again = Environment.objects.select_related("owner", "home", "image").get(pk=environment.pk)
        told = program.spec_of(again, world.package).env
        assert told["PLSTACK_USER_LANGUAGE"] == "zh-hans"
        assert (told["PLSTACK_MEMORY_MIB"], told["PLSTACK_CPU_MILLI"]) == (
            str(world.package.memory_mib),
            str(world.package.cpu_milli),
        )
        User.objects.filter(pk=world.alice.pk).update(language="en")
        again = Environment.objects.select_related("owner", "home", "image").get(pk=environment.pk)
        assert program.spec_of(again, world.package).env["PLSTACK_USER_LANGUAGE"] == "en"


def test_the_tools_bring_the_language_and_the_display() -> None:
    pins = {each.partition("==")[0] for each in tool("jupyterlab").requirements}
    assert {"jupyterlab-language-pack-zh-cn", "jupyter-resource-usage"} <= pins
