"""A notice in words, whatever its data looks like."""

import pytest
from django.utils import translation

from apps.billing.arrears.states import NOTICES
from apps.notifications.kinds import KINDS
from apps.notifications.models import Notice
from apps.notifications.words import words


def said(kind: str, **data: object) -> str:
    with translation.override("en"):
        found = words(Notice(kind=kind, data=data))
        return f"{found.title}. {found.text}"


def test_a_low_balance_says_how_long_it_lasts() -> None:
    assert "¥512.00 are left; at ¥31.20/h they last 16 h 24 min." in said(
        "billing.low", funds_fen=51_200, burn_fen_per_hour="3120.0000000000"
    )


def test_the_grace_period_says_when_it_ends() -> None:
    assert "2025-11-22 14:30" in said("billing.grace", grace_until="2025-11-22T06:30:00+00:00")


@pytest.mark.parametrize("kind", sorted(NOTICES.values()))
@pytest.mark.parametrize("data", [{}, {"funds_fen": -5, "burn_fen_per_hour": "0"}, {"burn_fen_per_hour": "many"}])
def test_every_kind_that_billing_sends_has_words(kind: str, data: dict[str, object]) -> None:
    assert kind not in said(kind, **data)
    assert len(said(kind, **data)) > 20


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
@pytest.mark.parametrize("data", [{}, {"name": 7, "at": "soon", "seconds": "x", "used": None, "node_id": ["?"]}])
def test_every_kind_has_words_whatever_its_data_looks_like(kind: str, data: dict[str, object]) -> None:
    assert kind not in said(kind, **data) or kind == "test"
    assert "%(" not in said(kind, **data)


def test_a_notice_leads_to_what_it_speaks_of() -> None:
    run = "5b1d43ad-6f0e-4f4c-9b6e-0d5a6c4c0001"
    found = words(Notice(kind="run.failed", data={"name": "digits", "workload_id": run}))
    assert found.url == f"/training/of-workload/{run}/"
    assert words(Notice(kind="run.failed", data={"workload_id": "no id"})).url == ""


def test_a_failure_is_told_with_its_cause_and_how_long_it_ran() -> None:
    text = said("run.failed", name="digits", reason="out_of_memory", seconds=125)
    assert "Cause: Out of memory. It ran for 2 min 05 s. Its page says why" in text
    assert "Cause" not in said("run.failed", name="digits", reason="from.the.future")


def test_an_unknown_kind_is_named_honestly() -> None:
    assert "“from.the.future”" in said("from.the.future")


def test_what_cost_less_than_a_fen_was_not_free() -> None:
    text = said("run.finished", name="digits", seconds=3, cost_fen=0, cost_exact_fen="0.24000000")
    assert "cost ¥0.0024" in text
    assert "cost ¥0.00." in said("run.finished", name="digits", seconds=3, cost_fen=0)
