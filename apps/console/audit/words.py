"""Words for the targets and the values of the operation log, and for amounts that several pages name."""

from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from apps.common.formatting import UNKNOWN, memory, moment
from apps.common.money import yuan, yuan_rate
from apps.console.audit.actions import ACTIONS
from apps.console.kit.words import core_words

TARGETS: dict[str, str | Promise] = {
    "unit_price": _("Price of the list"),
    "voucher": _("Voucher"),
    "prepaid_order": _("Prepaid order"),
    "budget": _("Budget"),
    "statement": _("Statement"),
    "payment": _("Payment"),
    "bill": _("Alipay's bill"),
    "export": _("Export"),
    "invoice": _("Invoice"),
    "invoice_title": _("Invoice title"),
    "recharge": _("Request to a second person"),
    "change": _("Request to a second person"),
    "card": _("Accelerator"),
    "cluster": _("Cluster"),
    "department": _("Department"),
    "image": _("Image"),
    "image_transfer": _("Image on its way"),
    "image_saving": _("Image that work is saved as"),
    "image_exception": _("Exception from the image policy"),
    "image_repository": _("Image repository"),
    "build_cache": _("Build cache"),
    "registry_collection": _("Collection of the image registry"),
    "invitation": _("Invitation"),
    "node": _("Node"),
    "zone": _("Zone"),
    "organisation": _("Organisation"),
    "package": _("Package"),
    "platform_role": _("Platform role"),
    "quota": _("Quota"),
    "role": _("Role"),
    "user": _("Account"),
    "workload": _("Workload"),
    "replica_set": _("Set of replicas"),
    "service": _("Model service"),
    "experiment": _("Tuning experiment"),
    "scenario": _("What-if scenario"),
    "trace": _("Trace"),
    "volume": _("Volume"),
    "dataset": _("Dataset"),
    "model": pgettext_lazy("learned", "Model"),
}

FIELDS: dict[str, str | Promise] = {
    "active": _("On offer"),
    "algorithm": _("Algorithm"),
    "budget_fen": _("Budget"),
    "most_failed": _("Failed trials that are borne"),
    "most_trials": _("Trials in all"),
    "parallel": _("At a time"),
    "template": _("Run"),
    "amount_fen": _("Amount"),
    "at_end": _("When prepaid time ends"),
    "auto_renew": _("Renews itself"),
    "ends_at": _("Paid until"),
    "price_fen": _("Price"),
    "quantity": _("Replicas"),
    "returned_fen": _("Given back"),
    "cpu_milli": _("CPU"),
    "credit_limit_fen": _("Credit limit"),
    "department": _("Department"),
    "description_en": _("Description in English"),
    "description_zh": _("Description in Chinese"),
    "digest": _("Digest"),
    "effective_from": _("In force from"),
    "follows_list": _("Follows the price list"),
    "email": _("E-mail"),
    "expires": _("Works until"),
    "grace_minutes": _("Minutes without money"),
    "gpu_core_milli": _("Share of compute, thousandths"),
    "gpu_count": _("GPU cards"),
    "gpu_memory_mib": _("GPU memory"),
    "gpu_mode": _("GPU mode"),
    "gpu_model": _("GPU model"),
    "isolation": _("Isolation"),
    "language": _("Language"),
    "limit": _("Limit"),
    "limit_fen": _("Limit"),
    "memory_mib": _("Memory"),
    "mig_profile": _("MIG profile"),
    "rdma": _("RDMA"),
    "name": _("Name"),
    "name_en": _("Name in English"),
    "name_zh": _("Name in Chinese"),
    "needs_review": _("Needs approval"),
    "note": _("Note"),
    "number": _("Version"),
    "own_role": _("Own role"),
    "packages": _("Packages"),
    "parent": _("Below"),
    "period": _("Month"),
    "permissions": _("Permissions"),
    "retention_days": _("Days that data is kept"),
    "priority": _("Priority"),
    "rate_fen_per_hour": _("Price"),
    "reason": _("Reason"),
    "reference": _("Reference"),
    "role": _("Role"),
    "slug": _("Short name"),
    "sort": _("Position"),
    "state": _("State"),
    "statement_number": _("Statement number"),
    "status": _("Status"),
    "term": _("Term"),
    "total_fen": _("Total"),
    "transfer": _("Ledger entry"),
    "username": _("User name"),
    "uses": _("Uses"),
    "weight": _("Weight"),
    "address": _("Registered address"),
    "answer": _("Answer"),
    "bank": _("Bank"),
    "bank_account": _("Bank account"),
    "format": _("Format"),
    "phone": _("Phone"),
    "kind": _("Kind"),
    "paid_on": _("Value date"),
    "payer": _("Payer"),
    "method": _("Way of payment"),
    "red_number": _("Red invoice"),
    "tax_number": _("Tax number"),
    "title": _("Title"),
    "title_kind": _("Kind of title"),
    "void_reason": _("Reason of voiding"),
    "wanted": _("Replicas"),
}


def action_words(action: str) -> str:
    """The label of an action; its code if there is no label yet."""
    return str(ACTIONS.get(action, action))


def field_words(name: str) -> str:
    return str(FIELDS.get(name, name))


def value_words(name: str, value: Any) -> str:
    """A logged value in the unit that people use; codes stay codes, so that one can search for them."""
    if value is None or value == "":
        return UNKNOWN
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if name == "rate_fen_per_hour":
        return _rate(str(value))
    if name.endswith("_fen") and isinstance(value, int):
        return yuan(value)
    if name.endswith("_mib") and isinstance(value, int):
        return memory(value)
    if name == "cpu_milli" and isinstance(value, int):
        return core_words(value)
    at = _instant(value)
    return moment(at, seconds=True) if at else str(value)


def _rate(text: str) -> str:
    try:
        return yuan_rate(Decimal(text))
    except InvalidOperation:
        return text


def _instant(value: Any) -> datetime | None:
    try:
        return parse_datetime(value) if isinstance(value, str) and "T" in value else None
    except ValueError:
        return None
