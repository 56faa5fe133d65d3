"""What the owner of a run is told of its end: cause, what to do, last lines, how long it ran and what it cost."""

import pytest

from apps.billing import selectors as billing
from apps.common.scoping import acting
from apps.notifications.composing import compose
from apps.notifications.gateways.base import Message
from apps.notifications.models import Delivery, Notice, Webhook, WebhookDelivery
from apps.notifications.services import PRIVATE
from apps.notifications.words import words
from apps.notifications.words.base import Words
from apps.tenants.models import User
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.ended import MOST_BYTES, MOST_LINES, last_lines_in
from apps.workloads.models import Attempt, Workload
from tests.builders import World, make_world, platform, signed_in, submit_workload
from tests.workloads.loops import until

pytestmark = [pytest.mark.django_db, pytest.mark.programs]
DEAR = 3_600_000  # ten yuan a second
FAILS = """
i=1; while [ $i -le 30 ]; do echo line $i; i=$((i+1)); done
printf 'epoch 1\\repoch 2\\n'; printf '\\033[31mValueError: bad shape\\033[0m\\n'; exit 3
"""


@pytest.fixture
def world() -> World:
    with acting(platform()):
        return make_world(balance_fen=100_000_000, rate_fen=DEAR)


def ended(world: World, source: str, status: Status) -> Workload:
    with acting(platform()):
        workload = submit_workload(world, argv=("sh", "-c", source))
        until(workload, lambda row: row.status == status)
    return workload


def mail(world: World, kind: str, language: str = "en") -> Message:
    with acting(platform()):
        User.objects.filter(pk=world.alice.pk).update(language=language)
        return compose(list(Delivery.objects.filter(kind=kind, user=world.alice)))


def test_a_failure_is_told_with_cause_advice_cost_and_the_last_lines(world: World) -> None:
    workload = ended(world, FAILS, Status.FAILED)
    with acting(platform()) as actor:
        notice = Notice.objects.get(kind="run.failed")
        cost = billing.workload_cost(actor, workload_id=workload.pk)
    assert notice.data["cost_fen"] == round(cost.exact_fen) > 0  # the meter was closed before
    found = words(notice)
    assert "Failed: ValueError: bad shape." in found.text
    assert "The lines above it in the log name the file and the line." in found.text
    assert f"cost ¥{round(cost.exact_fen) / 100:,.2f}" in found.text
    lines = found.excerpt.split("\n")
    assert lines[-3:] == ["line 30", "epoch 2", "ValueError: bad shape"]
    assert len(lines) <= MOST_LINES


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_mail_has_the_same_in_each_language_with_a_link(world: World, language: str) -> None:
    workload = ended(world, FAILS, Status.FAILED)
    sent = mail(world, "run.failed", language)
    for text in (sent.text, sent.html):
        assert "line 30" in text
        assert "ValueError: bad shape" in text
        assert "¥" in text
        assert f"/training/of-workload/{workload.pk}/" in text
        assert "\x1b" not in text


def test_markup_in_a_log_stays_text(world: World) -> None:
    ended(world, "echo '<img src=x onerror=alert(1)>'; exit 1", Status.FAILED)
    assert "<img src=x" not in mail(world, "run.failed").html
    page = signed_in(world.alice).get("/notifications/").content.decode()
    assert "&lt;img src=x onerror" in page
    assert "<img src=x" not in page


def test_what_finished_says_what_it_cost_and_how_long_it_ran(world: World) -> None:
    workload = ended(world, "sleep 0.2", Status.SUCCEEDED)
    with acting(platform()):
        notice = Notice.objects.get(kind="run.finished")
        ran_s = Attempt.objects.get(workload=workload).ran_for_s
    assert notice.data["cost_fen"] > 0
    assert ran_s is not None
    assert words(notice).text.startswith(f"It ran for {max(1, round(ran_s))} s and cost ¥")
    assert words(notice).excerpt == ""


def test_no_webhook_is_posted_what_the_program_wrote(world: World) -> None:
    with acting(platform()):
        Webhook.objects.create(
            organisation=world.organisation,
            name="ci",
            url="https://ci.example.com",
            kinds=["*"],
            secret=b"x",
            created_by=world.alice,
        )
    ended(world, FAILS, Status.FAILED)
    with acting(platform()):
        posted = WebhookDelivery.objects.get(kind="run.failed").data
    assert PRIVATE not in posted
    assert "bad shape" not in str(posted)
    assert posted["reason"] == "exit_code"


def test_many_and_long_lines_are_cut_and_torn_notices_are_read() -> None:
    def said(**private: object) -> str:
        return last_lines_in({"reason": Reason.EXIT_CODE, PRIVATE: private})

    assert said(reason_data={"detail": "\n".join(map(str, range(100)))}) == "\n".join(map(str, range(80, 100)))
    long = said(reason_data={"detail": "出" * 5000})
    assert 0 < len(long.encode()) <= MOST_BYTES
    assert set(long) == {"出"}
    assert said() == said(reason_data=None) == said(reason_data={}) == last_lines_in({PRIVATE: "torn"}) == ""


def test_out_of_memory_has_its_own_words_and_the_last_lines() -> None:
    recorded = {"reason_data": {"limit_mib": 2048, "output": "loading"}, "fault": Fault.USER}
    data = {"name": "big", "reason": Reason.OUT_OF_MEMORY, "seconds": 5, "cost_fen": 12, PRIVATE: recorded}
    found: Words = words(Notice(kind="run.failed", data=data))
    assert "2 GiB" in found.text
    assert "Choose a package with more memory." in found.text
    assert "It ran for 5 s and cost ¥0.12." in found.text
    assert found.excerpt == "loading"
