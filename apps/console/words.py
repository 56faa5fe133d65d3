"""Words for the codes of the operation log."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

ACTIONS: dict[str, str | Promise] = {
    "billing.arrears": _("Funds status changed"),
    "billing.credit_limit": _("Credit limit set"),
    "billing.package.create": _("Package created"),
    "billing.package.update": _("Package changed"),
    "billing.price.set": _("Price set"),
    "billing.top_up": _("Recharged"),
    "member.added": _("Member added"),
    "node.cordoned": _("Node cordoned"),
    "node.uncordoned": _("Node uncordoned"),
    "organisation.active": _("Organisation unfrozen"),
    "organisation.created": _("Organisation created"),
    "organisation.frozen": _("Organisation frozen"),
    "platform_role.assigned": _("Platform role given"),
    "quota.limited": _("Quota set"),
    "user.created": _("Account created"),
    "user.updated": _("Account changed"),
    "workload.queued": _("Workload queued"),
    "workload.placed": _("Workload placed"),
    "workload.starting": _("Workload starting"),
    "workload.running": _("Workload running"),
    "workload.stopping": _("Workload stopping"),
    "workload.succeeded": _("Workload finished"),
    "workload.failed": _("Workload failed"),
    "workload.stopped": _("Workload stopped"),
}

TARGETS: dict[str, str | Promise] = {
    "node": _("Node"),
    "organisation": _("Organisation"),
    "package": _("Package"),
    "quota": _("Quota"),
    "user": _("Account"),
    "workload": _("Workload"),
}

CHANNELS: dict[str, str | Promise] = {
    "web": _("Web"),
    "api": _("API"),
    "task": _("Platform"),
    "command": _("Command line"),
}


def action_words(action: str) -> str:
    """The words of an action; its code where a newer part of the platform has none yet."""
    return str(ACTIONS.get(action, action))
