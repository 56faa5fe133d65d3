"""Words for the codes and the values of the operation log, and for amounts that several pages name."""

from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.common.formatting import UNKNOWN, cores, memory, moment
from apps.common.money import yuan, yuan_rate

ACTIONS: dict[str, str | Promise] = {
    "billing.alipay.closed": _("Payment by Alipay closed"),
    "billing.alipay.paid": _("Paid by Alipay"),
    "billing.alipay.refund_asked": _("Refund asked for at Alipay"),
    "billing.alipay.refund_done": _("Refunded by Alipay"),
    "billing.alipay.refund_failed": _("Refund refused by Alipay"),
    "billing.alipay.started": _("Payment by Alipay started"),
    "billing.arrears": _("Funds status changed"),
    "billing.arrears_terms": _("Terms of arrears set"),
    "billing.cap": _("Spending cap set"),
    "billing.credit_limit": _("Credit limit set"),
    "billing.export.asked": _("Export asked for"),
    "billing.package.create": _("Package created"),
    "billing.package.update": _("Package changed"),
    "billing.price.set": _("Price set"),
    "billing.proof": _("Document attached to a payment"),
    "billing.recharge.approved": _("Recharge approved by a second person"),
    "billing.recharge.asked": _("Recharge asked for"),
    "billing.recharge.denied": _("Recharge denied"),
    "billing.recharge.withdrawn": _("Recharge request taken back"),
    "billing.statement.draft": _("Statement back to draft"),
    "billing.statement.issued": _("Statement issued"),
    "billing.statement.reviewed": _("Statement reviewed"),
    "billing.top_up": _("Recharged"),
    "billing.data_released": _("Stored data moved into the recycle bin"),
    "budget.created": _("Budget made"),
    "budget.deleted": _("Budget removed"),
    "budget.updated": _("Budget changed"),
    "department.created": _("Department made"),
    "department.deleted": _("Department deleted"),
    "department.moved": _("Department moved"),
    "department.renamed": _("Department renamed"),
    "department.weight": _("Weight of a department set"),
    "image.changed": _("Image changed"),
    "image.created": _("Image made"),
    "image.removed": _("Image removed"),
    "image.shared": _("Image shared"),
    "image.unshared": _("Share of an image ended"),
    "image.withdrawn": _("Image withdrawn"),
    "invitation.accepted": _("Invitation accepted"),
    "invitation.created": _("Invitation made"),
    "invitation.renewed": _("Invitation sent again"),
    "invitation.revoked": _("Invitation revoked"),
    "member.added": _("Member added"),
    "member.changed": _("Member changed"),
    "member.left": _("Member left"),
    "member.removed": _("Member removed"),
    "card.mode": _("Mode of a card switched"),
    "cluster.created": _("Cluster created"),
    "cluster.deleted": _("Cluster deleted"),
    "cluster.renamed": _("Cluster renamed"),
    "node.cordoned": _("Node cordoned"),
    "node.drain_cancelled": _("Drain of a node cancelled"),
    "node.drained": _("Node drained"),
    "node.draining": _("Drain of a node begun"),
    "node.joined": _("Node joined"),
    "node.labelled": _("Labels of a node changed"),
    "node.removed": _("Node removed"),
    "node.stray_stopped": _("Unaccounted work on a node stopped"),
    "node.token": _("Token for new nodes made"),
    "node.uncordoned": _("Node uncordoned"),
    "organisation.active": _("Organisation unfrozen"),
    "organisation.created": _("Organisation created"),
    "organisation.frozen": _("Organisation frozen"),
    "organisation.guarantee": _("Guarantee of an organisation set"),
    "organisation.packages": _("Packages of an organisation set"),
    "organisation.weight": _("Weight of an organisation set"),
    "package_request.approved": _("Package request approved"),
    "package_request.denied": _("Package request denied"),
    "package_request.requested": _("Package requested"),
    "package_request.revoked": _("Package approval taken back"),
    "package_request.withdrawn": _("Package request withdrawn"),
    "platform_role.assigned": _("Platform role given"),
    "platform_role.changed": _("Platform role changed"),
    "platform_role.created": _("Platform role made"),
    "platform_role.deleted": _("Platform role deleted"),
    "platform_role.withdrawn": _("Platform role taken away"),
    "quota.limited": _("Quota set"),
    "role.changed": _("Role changed"),
    "role.created": _("Role made"),
    "role.deleted": _("Role deleted"),
    "api_token.created": _("API token made"),
    "api_token.revoked": _("API token revoked"),
    "ssh.signed_in": _("Signed in by SSH"),
    "ssh_key.added": _("SSH key added"),
    "ssh_key.removed": _("SSH key removed"),
    "user.created": _("Account created"),
    "user.disabled": _("Account disabled"),
    "user.enabled": _("Account enabled"),
    "user.password_reset": _("Password reset"),
    "user.registered": _("Account registered"),
    "user.password_changed": _("Password changed"),
    "user.sessions_ended": _("Signed out elsewhere"),
    "user.signed_in": _("Signed in"),
    "user.email_confirmed": _("E-mail address confirmed"),
    "user.recovery_codes_made": _("Recovery codes made"),
    "user.second_factor_removed": _("Second factor switched off"),
    "user.second_factor_reset": _("Second factor reset"),
    "user.second_factor_set_up": _("Second factor set up"),
    "user.sign_in_connected": _("Other sign-in connected"),
    "user.sign_in_disconnected": _("Other sign-in disconnected"),
    "user.updated": _("Account changed"),
    "zone.billed": _("Charging for a simulated zone changed"),
    "zone.created": _("Zone created"),
    "zone.deleted": _("Zone removed"),
    "zone.renamed": _("Zone renamed"),
    "zone.simulated": _("Simulated zone added"),
    "zone.stopped": _("Work of a simulated zone stopped"),
    "volume.created": _("Volume created"),
    "volume.renamed": _("Volume renamed"),
    "volume.resized": _("Size of a volume changed"),
    "volume.shared": _("Volume shared"),
    "volume.unshared": _("Share of a volume ended"),
    "volume.deleted": _("Volume deleted"),
    "volume.restored": _("Volume restored"),
    "volume.purged": _("Volume removed for good"),
    "dataset.created": _("Dataset created"),
    "dataset.renamed": _("Dataset renamed"),
    "dataset.version": _("Dataset version made"),
    "dataset.shared": _("Dataset shared"),
    "dataset.unshared": _("Share of a dataset ended"),
    "dataset.deleted": _("Dataset deleted"),
    "dataset.restored": _("Dataset restored"),
    "dataset.purged": _("Dataset removed for good"),
    "workload.queued": _("Workload queued"),
    "workload.placed": _("Workload placed"),
    "workload.starting": _("Workload starting"),
    "workload.running": _("Workload running"),
    "workload.stopping": _("Workload stopping"),
    "workload.succeeded": _("Workload finished"),
    "workload.failed": _("Workload failed"),
    "workload.stopped": _("Workload stopped"),
    "whatif.cancelled": _("What-if scenario cancelled"),
    "whatif.deleted": _("What-if scenario deleted"),
    "whatif.started": _("What-if scenario asked for"),
    "whatif.trace_added": _("Trace uploaded"),
    "whatif.trace_deleted": _("Trace deleted"),
}

TARGETS: dict[str, str | Promise] = {
    "statement": _("Statement"),
    "payment": _("Payment"),
    "export": _("Export"),
    "recharge": _("Request for a recharge"),
    "card": _("Accelerator"),
    "cluster": _("Cluster"),
    "department": _("Department"),
    "image": _("Image"),
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
    "scenario": _("What-if scenario"),
    "trace": _("Trace"),
    "volume": _("Volume"),
    "dataset": _("Dataset"),
}

CHANNELS: dict[str, str | Promise] = {
    "web": _("Web"),
    "api": _("API"),
    "task": _("Platform"),
    "command": _("Command line"),
}


FIELDS: dict[str, str | Promise] = {
    "active": _("On offer"),
    "amount_fen": _("Amount"),
    "cpu_milli": _("CPU"),
    "credit_limit_fen": _("Credit limit"),
    "department": _("Department"),
    "description_en": _("Description in English"),
    "description_zh": _("Description in Chinese"),
    "digest": _("Digest"),
    "effective_from": _("In force from"),
    "email": _("E-mail"),
    "expires": _("Works until"),
    "gpu_core_milli": _("Share of compute, thousandths"),
    "gpu_count": _("GPU cards"),
    "gpu_memory_mib": _("GPU memory"),
    "gpu_mode": _("GPU mode"),
    "gpu_model": _("GPU model"),
    "isolation": _("Isolation"),
    "language": _("Language"),
    "limit": _("Limit"),
    "memory_mib": _("Memory"),
    "mig_profile": _("MIG profile"),
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
}


def action_words(action: str) -> str:
    """The words of an action; its code where a newer part of the platform has none yet."""
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


def core_words(milli: int) -> str:
    """`1 core`, `0.5 cores`, `14 cores` for thousandths of a core."""
    return ngettext("%(count)s core", "%(count)s cores", 1 if milli == 1000 else 2) % {"count": cores(milli)}
