"""What two people may have to decide on: a change of terms of money, as it is asked for, kept and carried out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Protocol
from uuid import UUID

from django.utils.dateparse import parse_datetime

from apps.billing.change_choices import AloneKind, ChangeKind
from apps.billing.choices import AccountKind
from apps.billing.ledger.services import organisation_account
from apps.billing.models import Discount
from apps.billing.payments.alone import Why, may_alone, note_alone
from apps.billing.payments.settings import PaymentSettings
from apps.billing.prices.discounts.selectors import discount_at
from apps.billing.prices.discounts.services import set_discount
from apps.billing.recharges.services import set_credit_limit
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.tenants import settings


class Proposal(Protocol):
    """`PERMISSION`: who may make the change, and so decide on it."""

    KIND: ClassVar[ChangeKind]
    PERMISSION: ClassVar[Permission]

    @property
    def subject(self) -> str: ...
    @property
    def organisation_id(self) -> UUID | None: ...
    def terms(self) -> dict[str, Any]: ...
    def before(self) -> dict[str, Any]: ...
    def why_second(self, actor: Actor) -> Why | None: ...

    def carry_out(self, actor: Actor) -> Any:
        """Make the change; the services that it calls validate it."""

    def count(self, actor: Actor) -> None:
        """Count what one person is about to grant alone."""


def moment_json(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def moment_of(terms: Mapping[str, Any], name: str) -> datetime | None:
    return parse_datetime(terms[name]) if terms[name] else None


def beginning_of(terms: Mapping[str, Any]) -> datetime | None:
    """None: now, also where the beginning has passed while the request waited."""
    begins = moment_of(terms, "effective_from")
    return None if begins is None or begins < db_now() else begins


@dataclass(frozen=True, slots=True)
class CreditLimit:
    """How far an organisation's wallet may be overdrawn, in fen."""

    KIND: ClassVar[ChangeKind] = ChangeKind.CREDIT_LIMIT
    PERMISSION: ClassVar[Permission] = Permission.PLATFORM_RECHARGE

    organisation_id: UUID
    credit_limit_fen: int

    @property
    def subject(self) -> str:
        return str(self.organisation_id)

    def terms(self) -> dict[str, Any]:
        return {"credit_limit_fen": self.credit_limit_fen}

    @classmethod
    def of(cls, organisation_id: UUID, terms: Mapping[str, Any]) -> "CreditLimit":
        return cls(organisation_id, terms["credit_limit_fen"])

    def before(self) -> dict[str, Any]:
        return {"credit_limit_fen": self._present()}

    def why_second(self, actor: Actor) -> Why | None:
        """A limit above one person's, or more credit than is left of what the actor may grant today."""
        added = self.credit_limit_fen - self._present()
        if added <= 0:
            return None
        if self.credit_limit_fen > settings.get(PaymentSettings).alone_fen:
            return Why.AMOUNT
        return None if may_alone(actor, added) else Why.DAY

    def carry_out(self, actor: Actor) -> None:
        set_credit_limit(actor, organisation_id=self.organisation_id, credit_limit_fen=self.credit_limit_fen)

    def count(self, actor: Actor) -> None:
        added, whose = self.credit_limit_fen - self._present(), self.organisation_id
        note_alone(actor, kind=AloneKind.CREDIT_LIMIT, organisation_id=whose, amount_fen=added)

    def _present(self) -> int:
        return organisation_account(self.organisation_id, AccountKind.CASH).credit_limit_fen


@dataclass(frozen=True, slots=True)
class NewDiscount:
    """`off` is the share of 1 that is taken off."""

    KIND: ClassVar[ChangeKind] = ChangeKind.DISCOUNT
    PERMISSION: ClassVar[Permission] = Permission.PLATFORM_PRICES_MANAGE

    organisation_id: UUID
    off: Decimal
    effective_from: datetime | None = None
    effective_to: datetime | None = None
    note: str = ""

    @property
    def subject(self) -> str:
        return str(self.organisation_id)

    def terms(self) -> dict[str, Any]:
        begins, ends = moment_json(self.effective_from), moment_json(self.effective_to)
        return {"off": f"{self.off:f}", "effective_from": begins, "effective_to": ends, "note": self.note.strip()}

    @classmethod
    def of(cls, organisation_id: UUID, terms: Mapping[str, Any]) -> "NewDiscount":
        begins, ends = beginning_of(terms), moment_of(terms, "effective_to")
        return cls(organisation_id, Decimal(terms["off"]), begins, ends, terms["note"])

    def before(self) -> dict[str, Any]:
        found = discount_at(self.organisation_id, db_now())
        return {"off": f"{found.off:f}" if found else "0"}

    def why_second(self, actor: Actor) -> Why | None:
        """More off than one person may give, unless the organisation has as much off already."""
        allowed = settings.get(PaymentSettings).discount_percent
        if self.off * 100 <= allowed or self._continues():
            return None
        return Why.DISCOUNT

    def carry_out(self, actor: Actor) -> Discount:
        return set_discount(
            actor,
            organisation_id=self.organisation_id,
            off=self.off,
            effective_from=self.effective_from,
            effective_to=self.effective_to,
            note=self.note,
        )

    def count(self, actor: Actor) -> None:
        """A discount grants no amount."""

    def _continues(self) -> bool:
        """Whether it takes no more off than the one in force does until the same end."""
        found = discount_at(self.organisation_id, db_now())
        if found is None or self.off > found.off:
            return False
        return found.effective_to is None or (self.effective_to is not None and self.effective_to <= found.effective_to)


@dataclass(frozen=True, slots=True)
class NewLimits:
    """What one person may do alone: loosening any of it takes two, tightening all of it one."""

    KIND: ClassVar[ChangeKind] = ChangeKind.LIMITS
    PERMISSION: ClassVar[Permission] = Permission.PLATFORM_SETTINGS_MANAGE

    wanted: PaymentSettings

    organisation_id: ClassVar[None] = None
    subject: ClassVar[str] = "limits"

    def terms(self) -> dict[str, Any]:
        return _limits_json(self.wanted)

    @classmethod
    def of(cls, organisation_id: UUID | None, terms: Mapping[str, Any]) -> "NewLimits":
        return cls(replace(settings.get(PaymentSettings), **terms))

    def before(self) -> dict[str, Any]:
        return _limits_json(settings.get(PaymentSettings))

    def why_second(self, actor: Actor) -> Why | None:
        return Why.LIMITS if self.wanted.loosens(settings.get(PaymentSettings)) else None

    def carry_out(self, actor: Actor) -> None:
        settings.put(actor, self.wanted)

    def count(self, actor: Actor) -> None:
        """It grants no amount."""


def _limits_json(limits: PaymentSettings) -> dict[str, Any]:
    return {name: getattr(limits, name) for name in PaymentSettings.__dataclass_fields__ if name != "KEY"}
