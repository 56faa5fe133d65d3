"""The contents of a request as the audit log and the notices keep them, and the voucher that it asks for."""

from collections.abc import Mapping

from apps.audit.services import Target, record
from apps.billing.choices import NOTES, RechargeKind
from apps.billing.models import RechargeRequest
from apps.billing.vouchers.terms import VoucherSpec
from apps.common.actor import Actor


def audit_values(found: RechargeRequest) -> dict[str, object]:
    """With the payment's reference or the voucher's terms."""
    known = {"reference": found.reference} if found.terms is None else found.terms
    return {
        "kind": found.kind,
        "amount_fen": found.amount_fen,
        **known,
        "note": found.note,
        "organisation": found.organisation.name,
    }


def log(
    actor: Actor,
    found: RechargeRequest,
    verb: str,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object],
) -> None:
    record(
        actor,
        action=f"billing.{_subject(found)}.{verb}",
        target=Target("recharge", str(found.pk), _label(found)),
        organisation_id=found.organisation_id,
        before=before,
        after=after,
    )


def spec_of(found: RechargeRequest) -> VoucherSpec:
    """The voucher that a request asks for; only of requests for one."""
    return VoucherSpec.from_json(found.terms or {}, found.amount_fen, found.note)


def _subject(found: RechargeRequest) -> str:
    if found.kind in NOTES:
        return "adjustment"
    return "voucher" if found.kind == RechargeKind.VOUCHER else "recharge"


def _label(found: RechargeRequest) -> str:
    """A name for people: the reference of a voucher is only the key of its form."""
    return found.reference if found.terms is None else found.organisation.name
