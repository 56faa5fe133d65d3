"""Ports of an environment: kept with it, part of each start, changed by a restart."""

import pytest

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.envs.program import PORTS
from apps.envs.services.changing import Change, change
from apps.workloads.spec import Port
from tests.builders import World
from tests.envs.kit import make

GRADIO = Port("gradio", 7860, 0, "The demo", own=True)


def test_each_start_has_them_behind_its_tools(world: World) -> None:
    made = make(world, ports=(GRADIO,))
    assert made.workload is not None
    assert made.workload.frozen_spec.ports == (*PORTS, GRADIO)


def test_they_are_changed_by_a_restart(world: World) -> None:
    made = make(world, ports=(GRADIO,))
    with acting(world.actor):
        assert not change(world.actor, made, Change(ports=(GRADIO,)))
        assert change(world.actor, made, Change(ports=()), restart=True)
    made.refresh_from_db()
    assert made.ports == []


@pytest.mark.parametrize(
    "port", [Port("jupyter", 7860, own=True), Port("mine", 8888, own=True), Port("control", 8800, own=True),
             Port("mine", 7860, 1, own=True)]
)  # fmt: skip
def test_none_of_them_is_a_tools_or_another_members(world: World, port: Port) -> None:
    with pytest.raises(Invalid):
        make(world, ports=(port,))
