"""Starting TensorBoard on a folder that is not there says so, by its name."""

import pytest

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.envs.services import tools
from tests.builders import World
from tests.envs import kit

pytestmark = pytest.mark.django_db


def test_a_folder_that_is_not_there_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made = kit.running(kit.make(world))
    monkeypatch.setattr(tools.reach, "endpoint", lambda *_each: None)
    monkeypatch.setattr(tools, "request_json", lambda *_each: (400, {"error": "there is no such folder"}))
    with acting(world.actor):
        with pytest.raises(Invalid, match="There is no folder runs in its home"):
            tools.start_tensorboard(world.actor, made, folder="runs")
        (kit.home_of(made) / "runs").mkdir()
        with pytest.raises(Invalid, match="It could not be started"):  # something else is wrong
            tools.start_tensorboard(world.actor, made, folder="runs")
