"""Changes of prices, as they are asked for, kept and carried out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from apps.billing.change_choices import ChangeKind
from apps.billing.changes.proposals import beginning_of, moment_json
from apps.billing.changes.references import (
    package_reference,
    storage_reference,
    term_reference,
    too_low,
    unit_reference,
    unit_subject,
)
from apps.billing.choices import Term, UnitItem
from apps.billing.models import Package, PriceVersion, TermPrice, UnitPrice
from apps.billing.payments.alone import Why
from apps.billing.prepaid.selectors import term_price
from apps.billing.prepaid.term_prices import set_term_price
from apps.billing.prices.packages.selectors import current_price
from apps.billing.prices.pricelist import Unit
from apps.billing.prices.units.selectors import prices_at
from apps.billing.prices.units.services import set_unit_price
from apps.billing.prices.versions import Priced, set_price
from apps.billing.storage.selectors import storage_package, storage_price
from apps.billing.storage.services import set_storage_price
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.common.permissions import Permission


@dataclass(frozen=True, slots=True)
class _Price:
    """Base: fen per hour from a moment on (None: from now on)."""

    PERMISSION: ClassVar[Permission] = Permission.PLATFORM_PRICES_MANAGE
    organisation_id: ClassVar[None] = None

    def count(self, actor: Actor) -> None:
        """A price grants no amount."""

    def _rate_terms(self, rate: Decimal, begins: datetime | None) -> dict[str, Any]:
        return {"rate_fen_per_hour": f"{rate:f}", "effective_from": moment_json(begins)}


@dataclass(frozen=True, slots=True)
class PackagePrice(_Price):
    KIND: ClassVar[ChangeKind] = ChangeKind.PACKAGE_PRICE

    package_id: int
    rate_fen_per_hour: Decimal
    effective_from: datetime | None = None

    @property
    def subject(self) -> str:
        return str(self.package_id)

    def terms(self) -> dict[str, Any]:
        return {"package_id": self.package_id, **self._rate_terms(self.rate_fen_per_hour, self.effective_from)}

    @classmethod
    def of(cls, organisation_id: UUID | None, terms: Mapping[str, Any]) -> "PackagePrice":
        return cls(terms["package_id"], Decimal(terms["rate_fen_per_hour"]), beginning_of(terms))

    def before(self) -> dict[str, Any]:
        found = current_price(self.package_id)
        return {"rate_fen_per_hour": f"{found.rate_fen_per_hour:f}" if found else None}

    def why_second(self, actor: Actor) -> Why | None:
        return Why.PRICE if too_low(self.rate_fen_per_hour, package_reference(self.package())) else None

    def carry_out(self, actor: Actor) -> Priced[PriceVersion]:
        begins, rate = self.effective_from, self.rate_fen_per_hour
        return set_price(actor, package_id=self.package_id, rate_fen_per_hour=rate, effective_from=begins)

    def package(self) -> Package:
        found: Package | None = Package.objects.filter(pk=self.package_id).first()
        if found is None:
            raise NotFound
        return found


@dataclass(frozen=True, slots=True)
class ListedPrice(_Price):
    """Of a unit of the price list."""

    KIND: ClassVar[ChangeKind] = ChangeKind.UNIT_PRICE

    unit: Unit
    rate_fen_per_hour: Decimal
    effective_from: datetime | None = None

    @property
    def subject(self) -> str:
        return unit_subject(self.unit)

    def terms(self) -> dict[str, Any]:
        return {"unit": list(self.unit), **self._rate_terms(self.rate_fen_per_hour, self.effective_from)}

    @classmethod
    def of(cls, organisation_id: UUID | None, terms: Mapping[str, Any]) -> "ListedPrice":
        item, *rest = terms["unit"]
        rate, begins = Decimal(terms["rate_fen_per_hour"]), beginning_of(terms)
        return cls(Unit(UnitItem(item), *rest), rate, begins)

    def before(self) -> dict[str, Any]:
        found = prices_at(db_now()).get(self.unit)
        return {"rate_fen_per_hour": f"{found[0]:f}" if found else None}

    def why_second(self, actor: Actor) -> Why | None:
        return Why.PRICE if too_low(self.rate_fen_per_hour, unit_reference(self.unit)) else None

    def carry_out(self, actor: Actor) -> Priced[UnitPrice]:
        begins, rate = self.effective_from, self.rate_fen_per_hour
        return set_unit_price(actor, unit=self.unit, rate_fen_per_hour=rate, effective_from=begins)


@dataclass(frozen=True, slots=True)
class StoragePrice(_Price):
    """Of a GiB kept for an hour."""

    KIND: ClassVar[ChangeKind] = ChangeKind.STORAGE_PRICE
    subject: ClassVar[str] = "storage"

    rate_fen_per_hour: Decimal
    effective_from: datetime | None = None

    def terms(self) -> dict[str, Any]:
        return self._rate_terms(self.rate_fen_per_hour, self.effective_from)

    @classmethod
    def of(cls, organisation_id: UUID | None, terms: Mapping[str, Any]) -> "StoragePrice":
        return cls(Decimal(terms["rate_fen_per_hour"]), beginning_of(terms))

    def before(self) -> dict[str, Any]:
        found = storage_price(db_now())
        return {"rate_fen_per_hour": f"{found.rate_fen_per_hour:f}" if found else None}

    def why_second(self, actor: Actor) -> Why | None:
        return Why.PRICE if too_low(self.rate_fen_per_hour, storage_reference(storage_package())) else None

    def carry_out(self, actor: Actor) -> Priced[PriceVersion]:
        begins = self.effective_from
        return set_storage_price(actor, rate_fen_per_hour=self.rate_fen_per_hour, effective_from=begins)


@dataclass(frozen=True, slots=True)
class PeriodPrice(_Price):
    """Of a package for a day, a month or a year paid in advance; None: not offered."""

    KIND: ClassVar[ChangeKind] = ChangeKind.TERM_PRICE

    package_id: int
    term: Term
    price_fen: int | None

    @property
    def subject(self) -> str:
        return f"{self.package_id}:{self.term}"

    def terms(self) -> dict[str, Any]:
        return {"package_id": self.package_id, "term": self.term.value, "price_fen": self.price_fen}

    @classmethod
    def of(cls, organisation_id: UUID | None, terms: Mapping[str, Any]) -> "PeriodPrice":
        return cls(terms["package_id"], Term(terms["term"]), terms["price_fen"])

    def before(self) -> dict[str, Any]:
        found = term_price(self.package_id, self.term)
        return {"price_fen": found.price_fen if found else None}

    def why_second(self, actor: Actor) -> Why | None:
        package = Package.objects.filter(pk=self.package_id).first()
        if package is None or self.price_fen is None:
            return None
        return Why.PRICE if too_low(Decimal(self.price_fen), term_reference(package, self.term)) else None

    def carry_out(self, actor: Actor) -> TermPrice | None:
        return set_term_price(actor, package_id=self.package_id, term=self.term, price_fen=self.price_fen)
