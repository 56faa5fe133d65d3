"""Worlds for the billing tests, made by the services themselves."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count
from uuid import UUID, uuid4

from django.db import transaction

from apps.billing import services
from apps.billing.choices import AccountKind, TransferKind
from apps.billing.ledger.services import organisation_account, platform_account
from apps.billing.models import Account, Hold, Package, PriceVersion, Voucher
from apps.common.actor import Actor, system_actor
from apps.tenants.choices import Role
from apps.tenants.models import Membership, Organisation, User
from apps.tenants.roles import ORGANISATION_ROLES

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PLATFORM = system_actor()
_serial = count(1)


def make_organisation(name: str | None = None) -> Organisation:
    number = next(_serial)
    organisation: Organisation = Organisation.objects.create(
        name=name or f"Lab {number} {uuid4().hex[:6]}", slug=f"lab-{number}-{uuid4().hex[:8]}"
    )
    return organisation


def make_member(organisation: Organisation, role: Role = Role.MEMBER) -> Actor:
    user = User.objects.create(username=f"person-{next(_serial)}-{uuid4().hex[:8]}")
    Membership.objects.create(organisation=organisation, user=user, role=role)
    return Actor(
        user_id=user.pk,
        label=user.username,
        organisation_id=organisation.pk,
        permissions=ORGANISATION_ROLES[role],
    )


def make_staff() -> Actor:
    """Somebody of the platform, by name: a refund is asked for by a person."""
    person = make_member(make_organisation(f"Platform {uuid4().hex[:8]}"))
    return replace(PLATFORM, user_id=person.user_id, label=person.label)


def make_package(rate: Decimal | str | int | None = 780, **columns: object) -> Package:
    number = next(_serial)
    spec = services.PackageSpec(
        name_en=f"Small {number} {uuid4().hex[:6]}",
        name_zh=f"小 {number} {uuid4().hex[:6]}",
        cpu_milli=1000,
        memory_mib=2048,
        **columns,  # type: ignore[arg-type]
    )
    return services.create_package(PLATFORM, spec=spec, rate_fen_per_hour=None if rate is None else Decimal(rate))


def price_of(package: Package) -> PriceVersion:
    return package.prices.order_by("-number").first()  # type: ignore[return-value]


def top_up(organisation: Organisation, fen: int) -> None:
    services.top_up(
        PLATFORM, organisation_id=organisation.pk, amount_fen=fen, reference=f"slip-{next(_serial)}-{uuid4()}"
    )


def wallet(organisation: Organisation) -> Account:
    return organisation_account(organisation.pk, AccountKind.CASH)


def balance(organisation: Organisation, kind: AccountKind = AccountKind.CASH) -> int:
    return organisation_account(organisation.pk, kind).balance_fen


@dataclass
class Run:
    """One workload with a session, as the kernel would drive it."""

    actor: Actor
    price: PriceVersion
    opened: datetime = NOON
    replicas: int = 1
    label: str = "digits"
    workload_id: UUID = field(default_factory=uuid4)
    session_id: UUID = field(default_factory=uuid4)

    @transaction.atomic
    def hold(self) -> Hold:
        return services.hold_for_start(
            self.actor,
            workload_id=self.workload_id,
            price_version_id=self.price.pk,
            label=self.label,
            replicas=self.replicas,
        )

    def open(self) -> "Run":
        services.open_meter(
            session_id=self.session_id,
            organisation_id=self.actor.organisation(),
            user_id=self.actor.user_id or 0,
            workload_id=self.workload_id,
            label=self.label,
            price_version_id=self.price.pk,
            at=self.opened,
            replicas=self.replicas,
        )
        return self

    def seen(self, after: timedelta) -> "Run":
        services.extend_meter(session_id=self.session_id, proven_until=self.opened + after)
        return self

    def close(self, after: timedelta) -> "Run":
        services.close_meter(session_id=self.session_id, at=self.opened + after)
        return self

    def release(self) -> "Run":
        services.release_hold(workload_id=self.workload_id)
        return self


def make_voucher(organisation: Organisation, fen: int, scope: str = "everything", **columns: object) -> Voucher:
    """Valid around `NOON`, whatever today is: written as a service would, past days included."""
    idem = f"voucher:issue:test:{next(_serial)}:{uuid4()}"
    granted = services.post(
        PLATFORM,
        posting=services.Posting(
            debit=platform_account(AccountKind.PROMOTION),
            credit=organisation_account(organisation.pk, AccountKind.VOUCHER),
            amount_fen=fen,
            kind=TransferKind.VOUCHER_ISSUE,
            idem=idem,
        ),
    )
    values: dict[str, object] = {
        "valid_from": NOON - timedelta(days=30),
        "valid_until": NOON + timedelta(days=30),
        "issued_by": "tests",
        **columns,
    }
    made: Voucher = Voucher.objects.create(
        organisation=organisation, amount_fen=fen, left_fen=fen, scope=scope, transfer=granted, **values
    )
    return made
