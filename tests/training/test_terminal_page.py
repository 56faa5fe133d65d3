"""The terminal tab of a run: its owner's alone, for the member that is asked for, while it runs."""

import pytest
from django.test import Client

from apps.common.scoping import acting
from apps.workloads import services
from apps.workloads.choices import Status
from tests.builders import World, platform
from tests.training.kit import submit, text, url
from tests.workloads.loops import until

WAITS = "import time; time.sleep(600)\n"


@pytest.mark.programs
def test_the_owner_chooses_a_member_and_nobody_else_sees_the_tab(world: World, alice: Client, dora: Client) -> None:
    run = submit(world, text=WAITS, members=2)
    page = f"{url('detail', run)}?tab=terminal"
    assert "No terminal now" in text(alice.get(page)), "it waits for its machine"
    with acting(platform()):
        until(run.workload, lambda workload: workload.status == Status.RUNNING)
    shown = text(alice.get(f"{page}&rank=1"))
    assert f'data-terminal="/ws/terminals/{run.workload_id}/?rank=1"' in shown
    assert f"ssh run-{run.workload_id.hex[:12]}.1@testserver" in shown
    assert 'href="?tab=terminal"' in text(alice.get(url("detail", run)))
    for other in (f"{page}&rank=1", url("detail", run)):
        seen = text(dora.get(other))
        assert run.name in seen
        assert 'href="?tab=terminal"' not in seen, "who manages the organisation's runs sees the run alone"
        assert "/ws/terminals/" not in seen
    api = f"/api/v1/training/runs/{run.pk}/terminals/"
    members = alice.get(api).json()["members"]
    assert [member["socket"] for member in members] == [f"/ws/terminals/{run.workload_id}/?rank={n}" for n in (0, 1)]
    assert members[1]["ssh"].startswith(f"ssh run-{run.workload_id.hex[:12]}.1@testserver -p ")
    assert dora.get(api).status_code == 404
    with acting(platform()):
        services.stop(world.actor, run.workload)
        until(run.workload, lambda workload: not workload.is_live)
    assert 'href="?tab=terminal"' not in text(alice.get(url("detail", run)))
    assert "/ws/terminals/" not in text(alice.get(page))
    assert alice.get(api).json() == {"members": []}
