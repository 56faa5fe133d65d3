"""The part of the state machine of money in which things are kept: sizes, prices and discounts change under them."""

from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from apps.billing.models import MeterSession, UsageSlice
from apps.billing.prices.discounts.services import set_discount
from apps.billing.storage.services import StoredItem, meter_storage, set_storage_price
from apps.common.actor import Actor
from apps.common.errors import Conflict
from tests.billing.builders import PLATFORM
from tests.billing.model import Lab
from tests.billing.storage_model import Shelf, Tariff

MINUTE = timedelta(minutes=1)
LATER = (timedelta(0), timedelta(minutes=40), timedelta(hours=5))


class StorageSteps(RuleBasedStateMachine):
    now: datetime
    labs: list[Lab]
    people: list[Actor]
    tariff: Tariff

    def begin_storage(self) -> None:
        """Two things each from the start, for one gibibyte more must cost more from the first step on."""
        for lab in self.labs:
            lab.shelves = [Shelf(lab.organisation, gib) for gib in (3, 0)]
        self.price_storage("0.4", 0)
        self.look_at_storage()

    @rule(which=st.integers(0, 1), shelf=st.integers(0, 1), gib=st.sampled_from((0, 1, 3, 500)))
    def resize(self, which: int, shelf: int, gib: int) -> None:
        self.labs[which].shelves[shelf].gib = gib

    @rule(which=st.integers(0, 2), rate=st.sampled_from(("0.4", "7.0000000001")), later=st.integers(0, 2))
    def change_terms(self, which: int, rate: str, later: int) -> None:
        """Of storage for everybody, or of one organisation for all that it starts from then on."""
        if which == 2:
            self.price_storage(rate, later)
        else:
            self.discount(which, "0.15" if later else "0.3333", LATER[later] or None)

    def price_storage(self, rate: str, later: int) -> None:
        begins, planned = self.now + LATER[later], self.tariff.prices[-1:]
        try:
            set_storage_price(PLATFORM, rate_fen_per_hour=Decimal(rate), effective_from=begins)
        except Conflict:
            assert planned[0][0] > begins
        else:
            assert not planned or planned[0][0] <= begins
            if not planned or planned[0][1] != Fraction(rate):  # the same price again is the version that is there
                self.tariff.prices.append((begins, Fraction(rate)))

    def discount(self, which: int, off: str, lasts: timedelta | None) -> None:
        whose = self.labs[which].organisation.pk
        end = self.now + lasts if lasts else None
        known = self.tariff.of(whose)
        share = (self.now, end, Fraction(off))
        set_discount(PLATFORM, organisation_id=whose, off=Decimal(off), effective_from=self.now, effective_to=end)
        if known[-1:] != [share]:  # the same terms again are the version that is there
            self.tariff.discounts.setdefault(whose, []).append(share)

    def look_at_storage(self) -> None:
        owners = zip(self.labs, self.people, strict=True)
        things = [
            StoredItem(shelf.id, lab.organisation.pk, owner.user_id or 0, "shelf", shelf.gib)
            for lab, owner in owners
            for shelf in lab.shelves
            if shelf.gib
        ]
        meter_storage(things, now=self.now)
        for lab in self.labs:
            for shelf in lab.shelves:
                shelf.seen(self.tariff, self.now)

    def rate_storage(self) -> None:
        for lab in self.labs:
            for shelf in lab.shelves:
                shelf.rate_due(MINUTE)

    def storage_tiles(self) -> None:
        """Sessions are the model's pieces; one begins where the other ends; slices fill what has been rated of them."""
        for shelf in (shelf for lab in self.labs for shelf in lab.shelves):
            rows = MeterSession.objects.filter(workload_id=shelf.id).order_by("opened_at", "proven_until", "closed_at")
            stored = list(rows.values_list("opened_at", "proven_until", "replicas"))
            assert stored == [(each.start, each.end, each.terms[2]) for each in shelf.pieces]
            slices = (
                UsageSlice.objects.filter(session__workload_id=shelf.id).order_by("start").values_list("start", "end")
            )
            edges = list(slices)
            assert all(end <= start for (_start, end), (start, _end) in pairwise(edges))
            kept = sum(((each.rated or each.start) - each.start for each in shelf.pieces), timedelta(0))
            assert sum((end - start for start, end in edges), timedelta(0)) == kept
