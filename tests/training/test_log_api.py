"""The log over the API: its last lines, lines with their times, and a search; what cannot be answered is said."""

import time
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.storage.services import root_of
from apps.training.models import Run
from apps.workloads.choices import TERMINAL
from apps.workloads.models import Attempt, Workload
from apps.workloads.selectors import log_chunk
from tests.builders import World, make_member, make_organisation, make_staff, make_world, platform, signed_in
from tests.training.kit import submit
from tests.workloads.loops import until

pytestmark = pytest.mark.django_db(transaction=True)
LINES = 3000
PAUSE_S = 0.4
PROGRAM = f"""
import os, pathlib, sys, time
sys.stdout.write("".join(f"line {{i}} loss=0.5\\n" for i in range({LINES})))
sys.stdout.flush()
while not pathlib.Path(os.environ["PLSTACK_OUTPUT"], "go").exists():
    time.sleep(0.05)
sys.stdout.buffer.write(b"\\x1b[31mTraceback\\x1b[0m \\xff\\n")
"""


@pytest.fixture
def scene(tmp_path: Any, settings: LazySettings) -> tuple[World, Run]:
    """Its last line was printed a pause after the others had been stored."""
    settings.PLSTACK_HOME = tmp_path
    with acting(platform()):
        world = make_world()
    run = submit(world, text=PROGRAM)
    with acting(platform()):
        until(run.workload, lambda workload: f"line {LINES - 1} loss=0.5\n" in log_of(workload))
        time.sleep(PAUSE_S)
        (root_of(run.output) / "go").touch()
        until(run.workload, lambda workload: workload.status in TERMINAL)
    return world, run


def log_of(workload: Workload) -> str:
    attempt = Attempt.objects.filter(workload=workload, handle__isnull=False).first()
    return log_chunk(attempt, limit=1 << 20).data.decode() if attempt else ""


@pytest.mark.programs
def test_a_log_is_read_by_its_end_by_its_lines_and_by_what_stands_in_it(scene: tuple[World, Run]) -> None:
    world, run = scene
    url, client = f"/api/v1/training/runs/{run.pk}/log/", signed_in(world.alice)
    whole = client.get(url).content
    assert f"line {LINES - 1} loss".encode() in whole

    tail = client.get(url, {"tail": 2})
    assert tail.content.splitlines(keepends=True) == whole.splitlines(keepends=True)[-2:]
    assert (int(tail.headers["X-Offset"]), tail.headers["X-Complete"]) == (len(whole) - len(tail.content), "true")

    last = client.get(f"{url}lines/").json()
    assert (last["next_offset"], last["size"], last["complete"]) == (len(whole), len(whole), True)
    assert [line["text"] for line in last["lines"]][-1] == "\x1b[31mTraceback\x1b[0m \ufffd"
    times = [datetime.fromisoformat(line["at"]) for line in last["lines"]]
    assert times == sorted(times)
    assert times[-1] - times[-2] > timedelta(seconds=PAUSE_S / 2)
    assert abs(times[-1] - db_now()) < timedelta(minutes=5)

    middle = whole.index(b"line 1500 ") + 3
    found = client.get(f"{url}lines/", {"offset": middle}).json()
    assert found["lines"][0]["text"] == "line 1500 loss=0.5"
    assert client.get(f"{url}lines/", {"before": found["offset"]}).json()["next_offset"] == found["offset"]

    hits = client.get(f"{url}search/", {"text": "LINE 15"}).json()
    assert hits["complete"]
    assert [whole[hit["offset"] : hit["end"]] for hit in hits["hits"]] == [b"line 15"] * 111
    some = client.get(f"{url}search/", {"text": "LINE 15", "limit": 5, "offset": hits["hits"][3]["offset"]}).json()
    assert (some["hits"], some["complete"]) == (hits["hits"][3:8], False)
    assert client.get(f"{url}search/", {"text": "LINE 15", "case": "true"}).json()["hits"] == []

    console = f"/api/v1/console/workloads/{run.workload_id}/log/"
    with acting(platform()):
        staff = signed_in(make_staff())
        stranger = signed_in(make_member(make_organisation(), "charlie"))
    for part in ("", "lines/", "search/?text=line"):
        assert staff.get(f"{console}{part}").content == client.get(f"{url}{part}").content
        assert stranger.get(f"{url}{part}").status_code == 404
        assert client.get(f"{console}{part}").status_code == 403
        assert Client().get(f"{url}{part}").status_code == 401


@pytest.mark.parametrize(
    ("part", "query", "field"),
    [
        ("", {"tail": "-1"}, "tail"),
        ("", {"tail": "5", "offset": "0"}, "tail"),
        ("lines/", {"offset": "x"}, "offset"),
        ("lines/", {"offset": "0", "before": "9"}, "before"),
        ("lines/", {"limit": "1"}, "limit"),
        ("search/", {}, "text"),
        ("search/", {"text": ""}, "text"),
        ("search/", {"text": "a\nb"}, "text"),
        ("search/", {"text": "a" * 257}, "text"),
        ("search/", {"text": "a", "limit": "100000"}, "limit"),
        ("search/", {"text": "a", "offset": str(2**63)}, "offset"),
        ("search/", {"text": "a", "case": "maybe"}, "case"),
    ],
)
def test_what_cannot_be_answered_is_said_beside_the_parameter(
    world: World, alice: Client, part: str, query: dict[str, str], field: str
) -> None:
    answer = alice.get(f"/api/v1/training/runs/{submit(world).pk}/log/{part}", query)
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")
    assert list(answer.json()["fields"]) == [field]


def test_a_log_that_has_not_begun_is_empty(world: World, alice: Client) -> None:
    url = f"/api/v1/training/runs/{submit(world).pk}/log/"
    empty = {"offset": 0, "next_offset": 0, "size": 0, "complete": False, "lines": []}
    assert alice.get(f"{url}lines/").json() == empty
    assert alice.get(f"{url}lines/?offset=77").json() == empty
    assert alice.get(f"{url}search/?text=a").json() == {"next_offset": 0, "complete": False, "hits": []}
    assert alice.get(f"{url}lines/?attempt=3").status_code == 404
    assert alice.get(f"{url}lines/?rank=3").json() == empty
