"""A state machine of what is written about money: statements of two months, and invoices over what was paid."""

from contextlib import ExitStack
from datetime import timedelta
from itertools import count

from django.db import connection, transaction
from django.db.models import Sum
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from apps.billing import selectors
from apps.billing.choices import StatementState
from apps.billing.days import billing_day
from apps.billing.invoice_choices import InvoiceKind, InvoiceState
from apps.billing.invoices import issuing as invoicing
from apps.billing.invoices import requesting as invoices
from apps.billing.invoices import titles as invoice_titles
from apps.billing.invoices.issuing import Issue
from apps.billing.invoices.requesting import InvoiceRequest
from apps.billing.invoices.selectors import Headroom, excesses, headroom_of
from apps.billing.models import Account, Invoice, Statement
from apps.billing.months import Month
from apps.billing.statements import services as statements
from apps.billing.statements.digest import canonical, is_intact
from apps.common.clock import db_now
from apps.common.errors import Conflict, InsufficientFunds, Invalid
from apps.common.scoping import acting
from apps.tenants.choices import Role
from tests.billing.builders import PLATFORM, balance, make_member, make_staff
from tests.billing.invoices_kit import COMPANY, PDF, give_back
from tests.billing.statements_kit import MIDDLE, NOVEMBER, OCTOBER, posted_at, rate
from tests.billing.test_statements_add_up import World, bill_of, moved, wallet_of

S, Stage = StatementState, InvoiceState
MINUTE = timedelta(minutes=1)
WAITS = (0, 7, 600, 6000, 15_000)
HAPPENS = ("top_up", "voucher", "run", "seen", "close", "close", "credit", "rate", "rate", "give_back", "adjust")
# What each act on a statement and on an invoice wants to find; a repeated one finds its own work and changes nothing.
ON_STATEMENTS = {"review": {S.DRAFT, S.REVIEWED}, "issue": {S.REVIEWED, S.ISSUED}, "reopen": {S.REVIEWED}}
ON_INVOICES = {
    "approve": ({Stage.REQUESTED}, Stage.APPROVED),
    "deny": ({Stage.REQUESTED, Stage.APPROVED}, Stage.DENIED),
    "withdraw": ({Stage.REQUESTED}, Stage.WITHDRAWN),
    "issue": ({Stage.APPROVED}, Stage.ISSUED),
    "void": ({Stage.ISSUED}, Stage.VOIDED),
}
CLAIMING = {Stage.REQUESTED, Stage.APPROVED, Stage.ISSUED}
picks = st.integers(0, 20)


class PaperMachine(RuleBasedStateMachine):
    """Each example runs in a transaction of its own, which is rolled back at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.stack.enter_context(acting(PLATFORM))
        self.stack.enter_context(transaction.atomic())
        self.numbers = count(10**19)

    @initialize()
    def begin(self) -> None:
        self.world, self.staff = World(), make_staff()
        self.lab = self.world.lab
        self.owner = make_member(self.lab, Role.FINANCE)
        with acting(self.owner):
            self.title = invoice_titles.add_title(self.owner, spec=COMPANY)
        self.now = MIDDLE
        self.paid = 0
        self.wanted: dict[Invoice, InvoiceState] = {}
        self.sealed: dict[Statement, str] = {}
        for what, size in (("top_up", 400), ("run", 1), ("close", 200), ("rate", 1)):
            self.happen(what, size, 0, 1)

    def teardown(self) -> None:
        connection.check_constraints()
        transaction.set_rollback(True)
        self.stack.close()

    # Money

    @rule(what=st.sampled_from(HAPPENS), size=st.integers(1, 400), which=st.integers(0, 3), wait=st.integers(0, 4))
    def happen(self, what: str, size: int, which: int, wait: int) -> None:
        self.now += WAITS[wait] * MINUTE
        with posted_at(self.now):
            if what == "rate":
                rate(self.lab, self.now)
            elif what == "give_back":
                self.give_back(size)
            else:
                getattr(self.world, f"do_{what}")(size, which)
        self.paid += size * 10 if what == "top_up" else 0

    def give_back(self, fen: int) -> None:
        try:
            give_back(self.lab, fen)
        except InsufficientFunds:
            return
        self.paid -= fen

    # Statements

    @rule(month=st.sampled_from((OCTOBER, NOVEMBER)))
    def build(self, month: Month) -> None:
        found = statements.build(PLATFORM, organisation_id=self.lab.pk, month=month, now=self.now)
        if found.state != S.DRAFT:
            return
        assert found.complete == (self.now >= month.complete_at)
        self.adds_up(found)
        if month.end > self.now:
            assert found.closing_fen == balance(self.lab)

    @precondition(lambda self: Statement.objects.filter(organisation=self.lab).exists())
    @rule(pick=picks, what=st.sampled_from(("review", "issue", "issue", "reopen")))
    def act(self, pick: int, what: str) -> None:
        rows = list(Statement.objects.filter(organisation=self.lab).order_by("period"))
        found = rows[pick % len(rows)]
        allowed = found.state in ON_STATEMENTS[what] and (what != "review" or found.complete)
        try:
            words = {"reason": "once more"} if what == "reopen" else {}
            after = getattr(statements, what)(self.staff, statement_id=found.pk, **words)
        except Conflict:
            assert not allowed
            return
        assert allowed
        if what == "issue":
            self.sealed.setdefault(after, canonical(after))

    def adds_up(self, found: Statement) -> None:
        """Lines, rounding, bill and ledger are one; what was in the wallet and what moved is what is in it."""
        assert bill_of(found) == found.total_fen == moved(found) == found.cash_fen + found.voucher_fen
        assert found.opening_fen + wallet_of(found) == found.closing_fen

    # Invoices

    @rule(share=st.sampled_from((1, 2, 3)), more=st.integers(0, 1))
    def ask(self, share: int, more: int) -> None:
        room = self.paid - self.claimed()
        fen = max(room, 1) // share + more
        wanted = InvoiceRequest(self.title.pk, InvoiceKind.ORDINARY, fen, str(next(self.numbers)))
        try:
            with acting(self.owner):
                made = invoices.request_invoice(self.owner, wanted=wanted)
        except Invalid:
            assert fen > room or fen <= 0
        else:
            assert 0 < fen <= room
            self.wanted[made] = Stage.REQUESTED

    @precondition(lambda self: self.wanted)
    @rule(pick=picks, what=st.sampled_from(sorted(ON_INVOICES)))
    def decide(self, pick: int, what: str) -> None:
        found = list(self.wanted)[pick % len(self.wanted)]
        wanted, after = ON_INVOICES[what]
        try:
            self.do(what, found)
        except Conflict:
            assert self.wanted[found] not in wanted
        else:
            assert self.wanted[found] in wanted
            self.wanted[found] = after

    def do(self, what: str, found: Invoice) -> None:
        if what == "withdraw":
            with acting(self.owner):
                invoices.withdraw_invoice(self.owner, invoice_id=found.pk)
        elif what == "issue":
            given = Issue(str(next(self.numbers)), billing_day(db_now()), [("fapiao.pdf", PDF)])
            invoicing.issue(self.staff, invoice_id=found.pk, given=given)
        elif what == "approve":
            invoicing.approve(self.staff, invoice_id=found.pk)
        else:
            words = {"deny": {"answer": "no"}, "void": {"reason": "wrong"}}[what]
            getattr(invoicing, what)(self.staff, invoice_id=found.pk, **words)

    def claimed(self, *states: InvoiceState) -> int:
        return sum(each.amount_fen for each, state in self.wanted.items() if state in (states or CLAIMING))

    # What always holds

    @invariant()
    def no_more_is_invoiced_than_was_paid(self) -> None:
        """But for what was given back afterwards, of which staff are told."""
        claimed = self.claimed()
        assert headroom_of(self.lab.pk) == Headroom(self.paid, claimed, self.claimed(Stage.ISSUED))
        assert sum(each.excess_fen for each in excesses(PLATFORM)) == max(claimed - self.paid, 0)

    @invariant()
    def what_is_final_stays(self) -> None:
        """A month's figures from the day after it, and every letter of a statement that was issued."""
        for found in Statement.objects.filter(organisation=self.lab, complete=True):
            self.adds_up(found)
        for found, words in self.sealed.items():
            found.refresh_from_db()
            assert (found.state, canonical(found), is_intact(found)) == (S.ISSUED, words, True)
        serials = [found.serial for found in self.sealed]
        assert serials == [1] * len(serials)  # each the first of its month

    @invariant()
    def the_books_are_right(self) -> None:
        assert Account.objects.aggregate(all=Sum("balance_fen"))["all"] == 0
        assert (selectors.drift(), selectors.unbalanced_runs()) == ([], [])
