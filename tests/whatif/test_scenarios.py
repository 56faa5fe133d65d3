"""A scenario from its request to its figures."""

from datetime import timedelta
from typing import Any

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.whatif import services, working
from apps.whatif.choices import Hardware, ScenarioStatus, Source
from apps.whatif.editing import read_all
from apps.whatif.models import Scenario
from apps.whatif.replaying import sample
from apps.whatif.scenario_scope import ScenarioScope
from tests.builders import platform


def ask(actor: Actor, *changes: dict[str, Any], days: float = 1, **fields: Any) -> Scenario:
    """A scenario of the sample trace's first days."""
    ground = ScenarioScope(actor, Source.SAMPLE, Hardware.SIMULATED)
    rows = changes or ({"kind": "min_runtime", "minutes": 60},)
    wanted = services.ScenarioSpec(
        fields.get("name", "Shorter turns"),
        ground,
        sample.START,
        sample.START + timedelta(days=days),
        read_all(rows, ground),
    )
    return services.create(actor, wanted)


def worked(scenario: Scenario) -> Scenario:
    with acting(platform()):
        working.replay_due_scenarios()
    scenario.refresh_from_db()
    return scenario


def test_the_sample_trace_is_replayed_on_both_sides_in_a_process_of_its_own(root: Actor) -> None:
    with acting(root):
        scenario = worked(ask(root, {"kind": "node_add", "node": "sim-a100", "count": 1}))
    assert (scenario.status, scenario.error, scenario.progress) == (ScenarioStatus.DONE, "", 1.0)
    a, b = scenario.result["a"], scenario.result["b"]
    assert a["waits"]["count"] == b["waits"]["count"] == scenario.result["tasks"] > 100
    assert sum(a["histogram"]) == a["waits"]["count"]
    assert b["waits"]["mean"] <= a["waits"]["mean"]
    assert a["revenue_fen"] > 0
    assert sum(o["revenue_fen"] for o in a["organisations"]) == a["revenue_fen"]
