"""The two portals' navigation: only what exists, only what the actor may open."""

from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.actor import Actor
from apps.common.permissions import Permission as P
from apps.workloads import kinds


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the sidebar, or a group of lines."""

    label: str | Promise
    icon: str
    url_name: str = ""
    permission: P | None = None
    children: tuple["Entry", ...] = field(default=())


_PORTAL = (
    Entry(_("Overview"), "layout-dashboard", "portal:overview"),
    Entry(_("Tuning"), "adjustments-horizontal", "tuning:list", P.TRAINING_VIEW),
    Entry(_("Pipelines"), "route", "pipelines:list", P.TRAINING_VIEW),
    Entry(_("Searches on tables"), "table", "tabular:list", P.TRAINING_VIEW),
    Entry(
        _("Data"),
        "database",
        children=(
            Entry(_("Volumes"), "", "storage:volumes", P.STORAGE_VIEW),
            Entry(_("Datasets"), "", "storage:datasets", P.STORAGE_VIEW),
        ),
    ),
    Entry(_("Models"), "box", "models:list", P.MODELS_VIEW),
    Entry(_("Images"), "stack-2", "registry:list", P.IMAGES_USE),
    Entry(_("Secrets"), "key", "secrets:list", P.SECRETS_USE),
    Entry(
        _("Billing"),
        "wallet",
        children=(
            Entry(_("Wallet"), "", "billing:wallet", P.BILLING_VIEW),
            Entry(_("Prepaid"), "", "billing:prepaid", P.BILLING_VIEW),
            Entry(_("Bills"), "", "billing:bills", P.BILLING_VIEW),
            Entry(_("Consumption"), "", "billing:consumption", P.BILLING_VIEW_OWN),
            Entry(_("Budgets"), "", "billing:budgets", P.BILLING_VIEW),
            Entry(_("Invoices"), "", "billing:invoices", P.BILLING_VIEW),
            Entry(_("Exports"), "", "billing:exports", P.BILLING_VIEW_OWN),
        ),
    ),
    Entry(
        _("Organisation"),
        "users-group",
        children=(
            Entry(_("Members"), "", "organisation:members", P.MEMBERS_MANAGE),
            Entry(_("Departments"), "", "organisation:departments", P.MEMBERS_MANAGE),
            Entry(_("Quotas"), "", "organisation:quotas", P.QUOTAS_VIEW),
            Entry(_("Roles"), "", "organisation:roles", P.ORGANISATION_MANAGE),
            Entry(_("Package requests"), "", "organisation:requests", P.PACKAGES_REVIEW),
            Entry(_("Webhooks"), "", "webhooks:list", P.WEBHOOKS_MANAGE),
        ),
    ),
    Entry(pgettext_lazy("page", "Account"), "user-circle", "account:profile"),
)

# Groups within a group: what finance staff do on one errand stands together.
_FINANCE = (
    Entry(pgettext_lazy("finance", "Overview"), "", "console:finance", P.PLATFORM_FINANCE_VIEW),
    Entry(
        pgettext_lazy("finance", "Money in"),
        "",
        children=(
            Entry(_("Recharge"), "", "console:recharges", P.PLATFORM_FINANCE_VIEW),
            Entry(_("Payments by Alipay"), "", "console:alipay_payments", P.PLATFORM_FINANCE_VIEW),
            Entry(_("Alipay reconciliation"), "", "console:reconciliation", P.PLATFORM_FINANCE_VIEW),
            Entry(_("Prepaid"), "", "console:prepaid", P.PLATFORM_FINANCE_VIEW),
            Entry(_("Vouchers"), "", "console:vouchers", P.PLATFORM_FINANCE_VIEW),
            Entry(_("Arrears"), "", "console:arrears", P.PLATFORM_FINANCE_VIEW),
        ),
    ),
    Entry(
        pgettext_lazy("finance", "Use and bills"),
        "",
        children=(
            Entry(_("Consumption"), "", "console:consumption", P.PLATFORM_FINANCE_VIEW),
            Entry(_("Statements"), "", "console:statements", P.PLATFORM_FINANCE_VIEW),
            Entry(_("Adjustments"), "", "console:adjustments", P.PLATFORM_FINANCE_VIEW),
            Entry(_("Invoices"), "", "console:invoices", P.PLATFORM_FINANCE_VIEW),
            Entry(_("Revenue"), "", "console:revenue", P.PLATFORM_FINANCE_VIEW),
        ),
    ),
    Entry(
        pgettext_lazy("finance", "Prices"),
        "",
        children=(
            Entry(_("Packages and prices"), "", "console:packages", P.PLATFORM_PRICES_VIEW),
            Entry(_("Price list"), "", "console:units", P.PLATFORM_PRICES_VIEW),
            Entry(_("Price of storage"), "", "console:storage_price", P.PLATFORM_PRICES_VIEW),
            Entry(_("Discounts"), "", "console:discounts", P.PLATFORM_PRICES_VIEW),
        ),
    ),
    Entry(
        pgettext_lazy("finance", "Control"),
        "",
        children=(
            Entry(_("Approvals"), "", "console:change_requests", P.PLATFORM_FINANCE_VIEW),
            Entry(_("Money audit"), "", "console:money_audit", P.PLATFORM_AUDIT_MONEY),
            Entry(_("Exports"), "", "console:exports", P.PLATFORM_FINANCE_VIEW),
        ),
    ),
)

CONSOLE = (
    Entry(pgettext_lazy("console", "Overview"), "layout-dashboard", "console:overview", P.PLATFORM_OVERVIEW),
    Entry(
        _("Tenants"),
        "building",
        children=(
            Entry(_("Organisations"), "", "console:organisations", P.PLATFORM_TENANTS_VIEW),
            Entry(_("People"), "", "console:people", P.PLATFORM_TENANTS_VIEW),
            Entry(_("Package requests"), "", "console:requests", P.PLATFORM_PACKAGES_REVIEW),
        ),
    ),
    Entry(
        pgettext_lazy("console", "Business"),
        "flask",
        children=(
            Entry(_("Environments"), "", "console:environments", P.PLATFORM_WORKLOADS_VIEW),
            Entry(_("Workloads"), "", "console:workloads", P.PLATFORM_WORKLOADS_VIEW),
            Entry(_("Volumes"), "", "console:volumes", P.PLATFORM_STORAGE_VIEW),
            Entry(_("Datasets"), "", "console:datasets", P.PLATFORM_STORAGE_VIEW),
            Entry(_("Images"), "", "console:images", P.PLATFORM_IMAGES_MANAGE),
            Entry(_("Image registry"), "", "console:registry", P.PLATFORM_IMAGES_MANAGE),
        ),
    ),
    Entry(
        pgettext_lazy("console", "Resources"),
        "server",
        children=(
            Entry(_("Zones"), "", "console:zones", P.PLATFORM_NODES_VIEW),
            Entry(_("Nodes"), "", "console:nodes", P.PLATFORM_NODES_VIEW),
            Entry(_("Accelerators"), "", "console:accelerators", P.PLATFORM_NODES_VIEW),
            Entry(_("Queue and fairness"), "", "console:queue", P.PLATFORM_NODES_VIEW),
            Entry(_("What-if"), "", "whatif:list", P.PLATFORM_NODES_VIEW),
            Entry(_("Processes"), "", "console:processes", P.PLATFORM_NODES_VIEW),
        ),
    ),
    Entry(_("Finance"), "report-money", children=_FINANCE),
    Entry(
        _("Security"),
        "shield-check",
        children=(
            Entry(_("Staff"), "", "console:staff", P.PLATFORM_SECURITY_VIEW),
            Entry(_("Roles"), "", "console:roles", P.PLATFORM_SECURITY_VIEW),
            Entry(_("Audit log"), "", "console:audit", P.PLATFORM_AUDIT_VIEW),
        ),
    ),
    Entry(_("Settings"), "settings", "console:settings", P.PLATFORM_SETTINGS_VIEW),
)


def portal() -> tuple[Entry, ...]:
    """The portal's, where the kinds of work follow the overview."""
    shown = sorted(((rules.menu, rules.rights.view) for rules in kinds.every() if rules.menu), key=_position)
    work = (Entry(menu.label, menu.icon, menu.page, right) for menu, right in shown)
    return (*_PORTAL[:1], *work, *_PORTAL[1:])


def _position(entry: tuple[kinds.Menu, P]) -> int:
    return entry[0].position


def entries(tree: tuple[Entry, ...], actor: Actor, current: str, path: str = "") -> list[dict[str, Any]]:
    """The tree as the sidebar's template reads it. `current` is the namespaced name of the page's URL, `path` names the
    groups around the tree.
    """
    shown = []
    for entry in tree:
        if entry.permission is not None and not actor.may(entry.permission):
            continue
        here = f"{path} / {entry.label}" if path else str(entry.label)
        children = entries(entry.children, actor, current, here)
        if entry.children and not children:
            continue
        shown.append(
            {
                "label": entry.label,
                "path": here,
                "icon": entry.icon,
                "url": reverse(entry.url_name) if entry.url_name else "",
                "current": _is_current(entry, current) or any(child["current"] for child in children),
                "children": children,
            }
        )
    return shown


def _is_current(entry: Entry, current: str) -> bool:
    """The pages of a kind of work all belong to its one entry; the others are told apart by their own name."""
    if not entry.url_name:
        return False
    section, _, page = entry.url_name.partition(":")
    here, _, name = current.partition(":")
    of_work = {rules.menu.page.partition(":")[0] for rules in kinds.every() if rules.menu}
    whole = section in {*of_work, "account", "models", "pipelines", "secrets", "tabular", "tuning", "whatif"}
    return section == here and (page == name or whole or name.startswith(page.rstrip("s")))
