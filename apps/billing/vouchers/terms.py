"""The terms of a voucher: validated, and converted to what a request and a row store."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.billing import policy
from apps.billing.choices import VoucherScope
from apps.billing.days import billing_day, midnight
from apps.billing.models import Package, Voucher
from apps.common.clock import db_now
from apps.common.errors import Invalid, Text
from apps.common.money import yuan
from apps.tenants.models import Organisation

NOTE_MAX = 300
LONGEST = timedelta(days=3660)


@dataclass(frozen=True, slots=True)
class VoucherSpec:
    """Whole fen, what it may pay for, and its first and last day in the billing zone, both included."""

    amount_fen: int
    scope: VoucherScope
    valid_from: date
    valid_until: date
    package_id: int | None = None
    gpu_model: str = ""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The terms that a request for it keeps; its amount and note have columns of their own there."""
        return {
            "scope": self.scope.value,
            "valid_from": self.valid_from.isoformat(),
            "valid_until": self.valid_until.isoformat(),
            "package_id": self.package_id,
            "gpu_model": self.gpu_model.strip(),
        }

    @classmethod
    def from_json(cls, terms: Mapping[str, Any], amount_fen: int, note: str) -> "VoucherSpec":
        return cls(
            amount_fen,
            VoucherScope(terms["scope"]),
            date.fromisoformat(terms["valid_from"]),
            date.fromisoformat(terms["valid_until"]),
            terms["package_id"],
            terms["gpu_model"],
            note,
        )


def from_today(spec: VoucherSpec) -> VoucherSpec:
    """The same terms, but from today on if their first day is over."""
    return replace(spec, valid_from=max(spec.valid_from, _today()))


def check_terms(spec: VoucherSpec) -> None:
    """Raises Invalid with the fields of what cannot be granted today."""
    wrong: dict[str, Text] = {}
    if not 0 < spec.amount_fen <= policy.TOP_UP_MAX_FEN:
        limit = {"limit": yuan(policy.TOP_UP_MAX_FEN)}
        wrong["amount"] = str(_("More than zero, and at most %(limit)s at a time.")) % limit
    if spec.valid_from < _today():
        wrong["valid_from"] = _("A voucher cannot begin in the past.")
    if spec.valid_until < spec.valid_from:
        wrong["valid_until"] = _("It must end after it has begun.")
    elif spec.valid_until - spec.valid_from > LONGEST:
        wrong["valid_until"] = _("At most ten years.")
    if len(spec.note.strip()) > NOTE_MAX:
        wrong["note"] = _("At most 300 characters.")
    wrong.update(_wrong_scope(spec))
    if wrong:
        raise Invalid(next(iter(wrong.values())), fields=wrong)


def _wrong_scope(spec: VoucherSpec) -> dict[str, Text]:
    if spec.scope == VoucherScope.PACKAGE:
        if spec.package_id is None or not Package.objects.filter(pk=spec.package_id).exists():
            return {"package": _("Choose the package that it is for.")}
    elif spec.package_id is not None:
        return {"package": _("Only a voucher for one package names it.")}
    if (spec.scope == VoucherScope.GPU_MODEL) != bool(spec.gpu_model.strip()):
        return {"gpu_model": _("Name the GPU model if, and only if, it is for one.")}
    return {}


def unsaved_voucher(organisation: Organisation, spec: VoucherSpec) -> Voucher:
    """The voucher that these terms would grant, unsaved."""
    return Voucher(organisation=organisation, **columns_of(spec))


def columns_of(spec: VoucherSpec) -> dict[str, Any]:
    """As a voucher's row has them."""
    return {
        "amount_fen": spec.amount_fen,
        "scope": spec.scope,
        "package_id": spec.package_id,
        "gpu_model": spec.gpu_model.strip(),
        "valid_from": midnight(spec.valid_from),
        "valid_until": midnight(spec.valid_until + timedelta(days=1)),
        "note": spec.note.strip(),
    }


def _today() -> date:
    return billing_day(db_now())
