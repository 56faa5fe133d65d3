"""Reports: what their text may be, what is drawn of runs, and who reads what."""

from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.common import markdown
from apps.common.scoping import acting
from apps.tracking.points import Point
from apps.tracking.services import record
from apps.training.models import Report, Run
from apps.training.reports import drawing
from apps.training.reports.blocks import Chart, Prose, Table, parse
from tests.builders import World, make_member, make_organisation, platform, signed_in
from tests.training.kit import submit, text

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)
TEXT = "# What came of it\n\nIt **learns**.\n\n```chart\nmetrics: loss\n```\n\n```table\nshow: metrics\n```\n"


class Tags(HTMLParser):
    """The names of all elements, and the addresses that they fetch or follow."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


@given(
    st.text(
        alphabet=st.sampled_from(list("`charttable:\n <>&\"'[]()!#*-|metricslog,axisshow=/1javascript")), max_size=200
    )
)
def test_any_text_is_read_and_what_it_draws_holds_no_markup_of_its_own(written: str) -> None:
    for block in parse(written).blocks:
        if isinstance(block, Prose):
            found = Tags(block.html)
            assert not found.names & {"script", "img", "iframe", "style", "svg", "form", "input"}
            assert not [each for each in found.addresses if each.lower().startswith(("javascript:", "data:"))]


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "![x](https://elsewhere.example/p.png)", "[a](javascript:x)"]
)
def test_hostile_markdown_stays_text(hostile: str) -> None:
    found = Tags(markdown.to_html(hostile))
    assert not found.names & {"script", "img"}
    assert not [each for each in found.addresses if not each.startswith("https://")]


def test_blocks_are_what_the_text_says() -> None:
    chart_text = "```chart\nmetrics： loss, acc ,loss\naxis: time\nlog: yes\n```"
    said = f"before\n\n{chart_text}\n\n```python\nchart\n```\n\n```table\nshow: cost\n```"
    kinds = parse(said).blocks
    assert [type(each) for each in kinds] == [Prose, Chart, Prose, Table]
    chart = kinds[1]
    assert isinstance(chart, Chart)
    assert (chart.metrics, chart.axis.value, chart.log) == (("loss", "acc"), "time", True)


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ("```chart\n```", "Name the metrics"),
        ("```chart\nmetric: loss\n```", "“metric: loss” is not understood"),
        ("```chart\nmetrics: loss\naxis: epoch\n```", "axis is one of step, time"),
        ("```table\nshow: everything\n```", "show is one of metrics"),
        ("```table\n```\n" * 41, "At most 40"),
    ],
)
def test_a_mistake_is_said_with_its_line(block: str, words: str) -> None:
    (mistake, *_rest) = parse(f"one\n\n{block}").mistakes
    assert words in mistake.words
    assert mistake.line in (1, 3)


@given(st.lists(st.lists(st.tuples(FINITE, st.floats(width=32)), max_size=6), max_size=4), st.booleans())
def test_whatever_is_drawn_lies_within_the_picture(lines: list[list[drawing.Point]], is_log: bool) -> None:
    svg = drawing.svg(
        [drawing.Line("a", tuple(sorted(each))) for each in lines if not _odd(each)], "loss", is_log=is_log
    )
    for points in [part.split('"')[0] for part in svg.split('points="')[1:]]:
        for x, y in (map(float, each.split(",")) for each in points.split()):
            assert -1 <= x <= drawing.WIDTH + 1
            assert -1 <= y <= drawing.HEIGHT + 1


def _odd(points: list[drawing.Point]) -> bool:
    """Sorting wants comparable numbers."""
    return any(y != y for _x, y in points)


@pytest.fixture
def pair(world: World) -> tuple[Run, Run]:
    found = submit(world, name="one"), submit(world, name="two")
    for place, run in enumerate(found):
        with acting(platform()):
            points = [Point("loss", 1 / step + place, step, float(step)) for step in range(1, 9)]
            record(workload_id=run.workload_id, points=points)
    return found


def written(client: Client, pair: tuple[Run, Run], status: int = 201, **changes: Any) -> Any:
    body = {"name": "Findings", "text": TEXT, "runs": [str(run.pk) for run in pair], **changes}
    answer = client.post(reverse("api-training-reports"), body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


@pytest.mark.django_db
def test_a_report_is_written_from_a_comparison_read_and_taken_along(alice: Client, pair: tuple[Run, Run]) -> None:
    first = alice.get(reverse("training:new_report"), {"run": [str(run.pk) for run in pair]})
    assert "metrics: loss" in text(first)
    asked = {"run": [str(run.pk) for run in pair], "name": "Findings", "text": TEXT}
    answer = alice.post(reverse("training:new_report"), asked)
    with acting(platform()):
        row = Report.objects.get()
        assert Entry.objects.filter(action="report.created", target_id=str(row.pk)).exists()
    assert answer["Location"] == reverse("training:report", args=[row.pk])
    page = alice.get(answer["Location"]).content.decode()
    assert page.count("<polyline") == 2
    assert "<h2>What came of it</h2>" in page
    file = alice.get(reverse("training:report_file", args=[row.pk]))
    found = Tags(file.content.decode())
    assert not found.names & {"script", "link", "img"}
    assert found.addresses == []
    assert file.content.count(b"<polyline") == 2


@pytest.mark.django_db
def test_what_is_wrong_is_said_and_the_text_is_not_lost(alice: Client, pair: tuple[Run, Run]) -> None:
    asked = {"run": [str(run.pk) for run in pair], "name": "", "text": "kept words\n\n```chart\n```"}
    answer = alice.post(reverse("training:new_report"), asked)
    assert answer.status_code == 422
    assert "kept words" in text(answer)
    answer = alice.post(reverse("training:new_report"), {**asked, "name": "x"})
    assert "Line 3" in text(answer)
    preview = alice.post(reverse("training:preview_report"), asked)
    assert "Name the metrics" in text(preview)
    with acting(platform()):
        assert not Report.objects.exists()


@pytest.mark.django_db
def test_a_colleague_reads_a_shared_one_without_the_runs_that_are_not_theirs(
    alice: Client, world: World, pair: tuple[Run, Run]
) -> None:
    with acting(platform()):
        bob = signed_in(make_member(world.organisation, "bob"))
        stranger = signed_in(make_member(make_organisation("Elsewhere"), "eve"))
    own = written(alice, pair)
    assert bob.get(reverse("training:report", args=[own["id"]])).status_code == 404
    alice.patch(
        f"{reverse('api-training-report', args=[own['id']])}", {"shared": True}, content_type="application/json"
    )
    page = bob.get(reverse("training:report", args=[own["id"]]))
    assert page.status_code == 200
    assert b"<polyline" not in page.content
    assert "2 runs of this report are not shown" in text(page)
    assert bob.get(reverse("training:edit_report", args=[own["id"]])).status_code in (403, 404)
    assert stranger.get(reverse("training:report", args=[own["id"]])).status_code == 404
    written(bob, pair, status=400)
