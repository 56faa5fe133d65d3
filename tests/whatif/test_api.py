"""What-if by programs: the same scenarios, rights and words as the pages."""

import io
import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole
from apps.whatif import working
from apps.whatif.models import Scenario, Trace
from tests.builders import World, make_staff, platform, signed_in

ROOT = "/api/v1/console/what-if/"
CSV = "submitted_at,run_s,organisation,gpu_count\n" + "".join(
    f"2026-10-01T0{hour}:00:00Z,7200,{name},4\n" for hour in range(8) for name in ("Alpha", "Beta")
)


@pytest.fixture
def ops(world: World) -> Client:
    with acting(platform()):
        return signed_in(make_staff(PlatformRole.OPS))


def wanted(**fields: Any) -> dict[str, Any]:
    return {
        "name": "More turns",
        "source": "sample",
        "hardware": "simulated",
        "start": "2026-11-02T00:00:00Z",
        "end": "2026-11-02T12:00:00Z",
        "changes": [{"kind": "weight", "organisation": "speech group", "weight": 3}],
        **fields,
    }


def post(client: Client, path: str, body: dict[str, Any], **headers: str) -> Any:
    return client.post(f"{ROOT}{path}", json.dumps(body), content_type="application/json", headers=headers)


def test_a_scenario_is_asked_for_once_under_its_key_watched_and_cancelled(ops: Client) -> None:
    made = [post(ops, "", wanted(), **{"Idempotency-Key": "one"}) for _ in range(2)]
    assert [answer.status_code for answer in made] == [201, 201]
    assert made[0].json()["id"] == made[1].json()["id"]
    assert Scenario.objects.count() == 1
    scenario = made[0].json()
    assert scenario["changes"] == ["Speech group: weight 1 → 3"]
    assert scenario["figures"] == []
    listed = ops.get(ROOT).json()["results"]
    assert [(row["id"], row["status"], row["progress"]) for row in listed] == [(scenario["id"], "queued", 0.0)]
    assert ops.delete(f"{ROOT}{scenario['id']}/").status_code == 409
    assert post(ops, f"{scenario['id']}/cancel/", {}).json()["status"] == "cancelled"
    assert post(ops, f"{scenario['id']}/cancel/", {}).status_code == 409
    assert ops.delete(f"{ROOT}{scenario['id']}/").status_code == 204
    assert ops.get(f"{ROOT}{uuid4()}/").status_code == 404


def test_what_cannot_be_is_refused_with_the_field_at_fault(ops: Client) -> None:
    bad = post(ops, "", wanted(changes=[{"kind": "weight", "organisation": "Nobody", "weight": 3}]))
    assert bad.status_code == 400
    assert bad.json()["fields"] == {"changes.0.organisation": ["There is no organisation with this name."]}
    assert post(ops, "", wanted(changes=[])).status_code == 400
    assert post(ops, "", wanted(hardware="real")).json()["fields"].keys() == {"hardware"}
    assert post(ops, "", wanted(source="trace")).status_code == 400
    assert post(ops, "", wanted(end="2026-11-01T00:00:00Z")).json()["fields"].keys() == {"end"}
    assert post(ops, "", wanted(changes=[{"kind": "teleport"}])).status_code == 400
    price = [{"kind": "price", "package": "1", "price": "1"}]
    assert post(ops, "", wanted(source="history", changes=price)).status_code == 403
    assert not Scenario.objects.exists()


def test_an_uploaded_trace_is_replayed_on_plain_nodes(ops: Client, world: World) -> None:
    made = ops.post(f"{ROOT}traces/", {"file": io.BytesIO(CSV.encode()), "name": "Two teams"})
    assert made.status_code == 201
    trace = made.json()
    assert (trace["tasks"], datetime.fromisoformat(trace["first_at"])) == (16, datetime(2026, 10, 1, tzinfo=UTC))
    body = wanted(
        source="trace",
        trace=trace["id"],
        hardware="plain",
        plain_nodes=1,
        start="2026-10-01T00:00:00Z",
        end="2026-10-02T00:00:00Z",
        changes=[{"kind": "node_add", "node": "node-001", "count": 1}],
    )
    span = {name: value for name, value in body.items() if name not in ("name", "changes")}
    assert post(ops, "size/", span).json()["tasks"] == 16
    assert post(ops, "size/", body).json()["fields"].keys() == {"name", "changes"}
    scenario = post(ops, "", body).json()
    with acting(platform()):
        assert working.replay_due_scenarios() == 1
    done = ops.get(f"{ROOT}{scenario['id']}/").json()
    assert (done["status"], done["error"], done["tasks"]) == ("done", "", 16)
    by_key = {figure["key"]: figure for figure in done["figures"]}
    assert by_key["mean"]["verdict"] == "better"
    assert by_key["mean"]["b"] == 0.0
    assert [row["name"] for row in done["organisations"]] == ["Alpha", "Beta"]
    assert "revenue" not in by_key
    assert "B cuts the mean wait by 100%" in done["conclusion"] or "at p90" in done["conclusion"]
    table = ops.get(f"{ROOT}{scenario['id']}/tasks.csv").content.decode().splitlines()
    assert len(table) == 17
    assert ops.delete(f"{ROOT}traces/{trace['id']}/").status_code == 409
    assert ops.delete(f"{ROOT}{scenario['id']}/").status_code == 204
    assert ops.delete(f"{ROOT}traces/{trace['id']}/").status_code == 204


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,2\n", "The first line must name the columns"),
        (b"submitted_at,run_s\nsoon,1\n", "Line 2"),
        (b"submitted_at,run_s\n2026-10-01,-1\n", "run_s must be a number of 0 or more"),
        (b"submitted_at,run_s\n2026-10-01,nan\n", "run_s must be a number of 0 or more"),
        (b"submitted_at,run_s,priority\n2026-10-01,1,9\n", "priority must be 1 to 5"),
        (b"submitted_at,run_s,gpu_count,gpu_mode\n2026-10-01,1,1,mig\n", "asks for what cannot be: gpu.profile"),
        (b"submitted_at,run_s\n", "no task"),
        (b"id,submitted_at,run_s\nx,2026-10-01,1\nx,2026-10-01,1\n", "same id"),
        (b"\xff\xfe", "not UTF-8"),
        (b"timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,x,1,66.0,11cb48\n", "Line 2"),
    ],
)
def test_a_bad_trace_is_refused_with_the_line_at_fault(ops: Client, content: bytes, words: str) -> None:
    answer = ops.post(f"{ROOT}traces/", {"file": io.BytesIO(content)})
    assert answer.status_code == 400
    assert words in answer.json()["fields"]["file"][0]
    assert not Trace.objects.exists()


def test_others_stay_out(world: World, root: Actor) -> None:
    with acting(platform()):
        finance = signed_in(make_staff(PlatformRole.FINANCE))
    for client in (finance, signed_in(world.alice)):
        assert client.get(ROOT).status_code == 403
        assert post(client, "", wanted()).status_code == 403
