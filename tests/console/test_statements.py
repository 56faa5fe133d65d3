"""Statements in the console and in the organisation's own pages."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.billing.models import Statement, StatementLine
from apps.billing.statements import services as statements
from apps.common.scoping import acting
from apps.tenants.choices import Role
from tests.billing.builders import Run, price_of, top_up
from tests.billing.statements_kit import MIDDLE, OCTOBER, build, posted_at, rate
from tests.builders import World, make_member, make_world, platform, signed_in
from tests.console.kit import count_entries, messages_of, page, post, text_of

HOUR = timedelta(hours=1)


@pytest.fixture
def october(world: World) -> Statement:
    """The complete draft of a month in which ninety minutes were used."""
    return of_october(world)


def of_october(world: World) -> Statement:
    with acting(platform()), posted_at(MIDDLE + 2 * HOUR):
        top_up(world.organisation, 50_000)
        Run(world.actor, price_of(world.package), opened=MIDDLE).open().close(1.5 * HOUR)
        rate(world.organisation, MIDDLE + 2 * HOUR)
        return build(world.organisation)


def issued(made: Statement) -> Statement:
    with acting(platform()):
        statements.review(platform(), statement_id=made.pk)
        return statements.issue(platform(), statement_id=made.pk)


def state_of(made: Statement) -> str:
    with acting(platform()):
        return str(Statement.objects.get(pk=made.pk).state)


def act(client: Client, made: Statement, name: str) -> list[str]:
    return messages_of(post(client, page("statement_act", made.pk, name), follow=True))


class TestConsole:
    def test_the_list_names_month_state_and_total(self, finance: Client, october: Statement) -> None:
        shown = text_of(finance.get(page("statements"), {"period": "2026-10"}))
        for words in (october.organisation.name, "Draft", "2026-10"):
            assert words in shown

    def test_filters_narrow_it(self, finance: Client, october: Statement) -> None:
        name = october.organisation.name
        assert name not in text_of(finance.get(page("statements"), {"period": "2026-09"}))
        assert name not in text_of(finance.get(page("statements"), {"state": "issued"}))
        assert name in text_of(finance.get(page("statements"), {"organisation": name, "state": "draft"}))

    def test_an_empty_list_says_what_comes(self, finance: Client) -> None:
        assert "No statements yet" in text_of(finance.get(page("statements")))

    def test_a_month_without_any_says_so_and_a_narrower_question_that_nothing_matches(self, finance: Client) -> None:
        empty = text_of(finance.get(page("statements"), {"period": "2026-10"}))
        assert "No statements of 2026-10 yet" in empty
        assert "Nothing matches" not in empty
        assert "Nothing matches" in text_of(finance.get(page("statements"), {"period": "2026-10", "state": "issued"}))

    def test_the_paper_shows_lines_rounding_and_wallet(self, finance: Client, october: Statement) -> None:
        shown = text_of(finance.get(page("statement", october.pk)))
        for words in ("Rounding", "Balance at the beginning", "500.00", "Wallet"):
            assert words in shown

    def test_review_then_issue(self, finance: Client, october: Statement) -> None:
        assert "Reviewed" in act(finance, october, "review")[0]
        assert "Issued" in act(finance, october, "issue")[0]
        assert state_of(october) == "issued"
        assert "Frozen" in text_of(finance.get(page("statement", october.pk)))

    def test_a_draft_cannot_be_issued(self, finance: Client, october: Statement) -> None:
        assert "draft" in act(finance, october, "issue")[0]
        assert state_of(october) == "draft"

    def test_each_deed_asks_first(self, finance: Client, october: Statement) -> None:
        for name in ("build", "review", "issue"):
            assert october.organisation.name in text_of(finance.get(page("statement_act", october.pk, name)))
        assert finance.get(page("statement_act", october.pk, "burn")).status_code == 404

    def test_back_to_draft_asks_why(self, finance: Client, october: Statement) -> None:
        act(finance, october, "review")
        refused = post(finance, page("statement_reopen", october.pk), reason="")
        assert (refused.status_code, state_of(october)) == (422, "reviewed")
        post(finance, page("statement_reopen", october.pk), reason="A price was wrong")
        assert state_of(october) == "draft"
        assert "A price was wrong" in text_of(finance.get(page("statement", october.pk)))

    def test_many_are_reviewed_and_issued_at_once(self, finance: Client, october: Statement) -> None:
        with acting(platform()):
            other = of_october(make_world())
        for do in ("review", "issue"):
            said = messages_of(post(finance, page("statements_bulk"), follow=True, do=do, period="2026-10"))
            assert "2 statements" in said[0]
        assert (state_of(october), state_of(other)) == ("issued", "issued")

    def test_ticked_ones_only(self, finance: Client, october: Statement) -> None:
        with acting(platform()):
            other = of_october(make_world())
        post(finance, page("statements_bulk"), do="review", id=str(october.pk))
        assert (state_of(october), state_of(other)) == ("reviewed", "draft")

    @pytest.mark.parametrize("data", [{"do": "burn"}, {"do": "review", "id": "x"}, {"do": "issue", "period": "2026"}])
    def test_nonsense_is_not_found(self, finance: Client, data: dict[str, Any]) -> None:
        assert post(finance, page("statements_bulk"), **data).status_code == 404

    def test_drafts_are_built_on_demand(self, finance: Client, world: World) -> None:
        with acting(platform()), posted_at(MIDDLE):
            top_up(world.organisation, 100)
        said = messages_of(post(finance, page("statements_build"), follow=True, period=OCTOBER.period))
        assert "1 draft" in said[0]

    def test_a_line_opens_into_its_charges_and_each_into_its_formula(self, finance: Client, october: Statement) -> None:
        opened = finance.get(page("statement_line", october.pk, 1))
        rows = list(opened.context["table"].page.object_list)
        with acting(platform()):
            line = StatementLine.objects.get(statement=october, position=1)
        assert sum((row.record.exact_fen for row in rows), Decimal(0)) == line.amount_fen
        shown = text_of(finance.get(opened.context["table"].opens(rows[0].record)))
        assert "÷ 3600" in shown

    def test_the_rounding_does_not_open(self, finance: Client, october: Statement) -> None:
        assert finance.get(page("statement_line", october.pk, 2)).status_code == 404

    def test_other_staff_do_not_see_it(self, ops: Client, business: Client, october: Statement) -> None:
        for client in (ops, business):
            assert client.get(page("statements")).status_code == 403
            assert post(client, page("statement_act", october.pk, "review")).status_code == 403
        assert state_of(october) == "draft"
        assert count_entries("billing.statement.reviewed") == 0


class TestBills:
    @pytest.fixture
    def bookkeeper(self, world: World) -> Client:
        """Of the organisation's own finance people."""
        with acting(platform()):
            return signed_in(make_member(world.organisation, name="bookkeeper", role=Role.FINANCE))

    def test_an_issued_one_is_there_to_read_and_print(self, bookkeeper: Client, october: Statement) -> None:
        bill = issued(october)
        assert bill.number in text_of(bookkeeper.get(reverse("billing:bills")))
        shown = text_of(bookkeeper.get(reverse("billing:bill", args=[bill.pk])))
        assert bill.digest in shown
        assert "data-print" in shown

    def test_drafts_are_nobodys_business(self, bookkeeper: Client, october: Statement) -> None:
        assert "No statement yet" in text_of(bookkeeper.get(reverse("billing:bills")))
        assert bookkeeper.get(reverse("billing:bill", args=[october.pk])).status_code == 404

    def test_a_member_without_the_right_does_not_see_them(self, alice: Client) -> None:
        assert alice.get(reverse("billing:bills")).status_code == 403

    def test_a_line_opens_into_the_organisations_charges(self, bookkeeper: Client, october: Statement) -> None:
        shown = bookkeeper.get(reverse("billing:bill_line", args=[issued(october).pk, 1]))
        assert "÷ 3600" in text_of(shown)

    def test_another_organisations_does_not_exist(self, october: Statement) -> None:
        bill = issued(october)
        with acting(platform()):
            stranger = signed_in(make_world(role=Role.ADMIN).alice)
        for name, args in (("bill", [bill.pk]), ("bill_line", [bill.pk, 1])):
            assert stranger.get(reverse(f"billing:{name}", args=args)).status_code == 404
