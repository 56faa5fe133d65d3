"""Titles (抬头) that an organisation keeps for its invoices."""

from dataclasses import asdict, dataclass
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.invoice_choices import TitleKind
from apps.billing.invoices.selectors import title
from apps.billing.invoices.tax_numbers import is_credit_code, normalize_credit_code
from apps.billing.models import InvoiceTitle
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.common.text import clean_name

PERSON_NUMBER_MAX = 20
MOST = 50


@dataclass(frozen=True, slots=True)
class TitleSpec:
    """What is printed. A company needs its credit code; the rest only for a special invoice."""

    title_kind: TitleKind
    title: str
    tax_number: str = ""
    address: str = ""
    phone: str = ""
    bank: str = ""
    bank_account: str = ""


def add_title(actor: Actor, *, spec: TitleSpec) -> InvoiceTitle:
    """Add a title. The same name and number again returns the existing one. Raises `Invalid` with the field."""
    actor.require(Permission.BILLING_TOP_UP)
    wanted = checked(spec)
    mine = InvoiceTitle.objects.filter(organisation_id=actor.organisation(), removed_at__isnull=True)
    known: InvoiceTitle | None = mine.filter(title=wanted.title, tax_number=wanted.tax_number).first()
    if known is not None:
        return known
    if mine.count() >= MOST:
        raise Conflict(_("An organisation keeps at most %(count)s titles.") % {"count": MOST})
    try:
        with transaction.atomic():
            made: InvoiceTitle = InvoiceTitle.objects.create(organisation_id=actor.organisation(), **asdict(wanted))
            _log(actor, made, "added", before={}, after=audit_values(made))
            return made
    except IntegrityError:  # the same title, submitted twice
        found: InvoiceTitle = mine.get(title=wanted.title, tax_number=wanted.tax_number)
        return found


def change_title(actor: Actor, *, title_id: UUID, spec: TitleSpec) -> InvoiceTitle:
    """Change a title; requested invoices keep the title as it was when they were requested."""
    actor.require(Permission.BILLING_TOP_UP)
    wanted = checked(spec)
    try:
        with transaction.atomic():
            found = _locked(actor, title_id)
            before = audit_values(found)
            for name, value in asdict(wanted).items():
                setattr(found, name, value)
            found.save()
            if audit_values(found) != before:
                _log(actor, found, "changed", before=before, after=audit_values(found))
            return found
    except IntegrityError as error:
        raise Invalid.field("title", _("There is another title with this name and number.")) from error


def remove_title(actor: Actor, *, title_id: UUID) -> None:
    """Archive a title; titles are never deleted."""
    actor.require(Permission.BILLING_TOP_UP)
    with transaction.atomic():
        found = _locked(actor, title_id)
        found.removed_at = db_now()
        found.save(update_fields=["removed_at"])
        _log(actor, found, "removed", before=audit_values(found), after={})


def checked(spec: TitleSpec) -> TitleSpec:
    """The title normalised as it is printed; raises `Invalid` with the field that is wrong."""
    texts = {name: clean_name(str(value), name) for name, value in asdict(spec).items() if name != "title_kind"}
    cleaned = TitleSpec(TitleKind(spec.title_kind), **{**texts, "tax_number": normalize_credit_code(spec.tax_number)})
    if not 2 <= len(cleaned.title) <= 100:
        raise Invalid.field("title", _("Give the name as it is registered, 2 to 100 characters."))
    if cleaned.title_kind is TitleKind.COMPANY and not is_credit_code(cleaned.tax_number):
        raise Invalid.field(
            "tax_number",
            _("This is no unified social credit code: 18 characters of which the last checks the others."),
        )
    if len(cleaned.tax_number) > PERSON_NUMBER_MAX or not (cleaned.tax_number or "0").isalnum():
        raise Invalid.field("tax_number", _("At most 20 letters and digits."))
    for name, longest in (("address", 200), ("phone", 40), ("bank", 100), ("bank_account", 40)):
        if len(getattr(cleaned, name)) > longest:
            raise Invalid.field(name, _("At most %(count)s characters.") % {"count": longest})
    return cleaned


def audit_values(found: InvoiceTitle) -> dict[str, object]:
    """What the audit log keeps of a title."""
    names = ("title_kind", "title", "tax_number", "address", "phone", "bank", "bank_account")
    return {name: getattr(found, name) for name in names if getattr(found, name)}


def _locked(actor: Actor, title_id: UUID) -> InvoiceTitle:
    title(actor, title_id)
    rows = InvoiceTitle.objects.select_for_update().filter(pk=title_id, removed_at__isnull=True)
    found: InvoiceTitle | None = rows.first()
    if found is None:
        raise Conflict(_("This title is no longer in use."))
    return found


def _log(actor: Actor, found: InvoiceTitle, verb: str, *, before: dict[str, object], after: dict[str, object]) -> None:
    target = Target("invoice_title", str(found.pk), found.title)
    record(actor, action=f"billing.invoice_title.{verb}", target=target, before=before, after=after)
