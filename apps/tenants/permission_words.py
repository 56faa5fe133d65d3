"""What each permission means, for pages on which somebody chooses some."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.permissions import Permission as P
from apps.tenants.roles import ADDED


@dataclass(frozen=True, slots=True)
class Group:
    """Permissions that stand together under one heading, in the order in which they are read."""

    label: str | Promise
    permissions: tuple[P, ...]


WORDS: dict[str, str | Promise] = {
    P.STORAGE_VIEW: _("See volumes and datasets"),
    P.STORAGE_USE: _("Create and change volumes and datasets of one's own"),
    P.STORAGE_MANAGE_ALL: _("See and manage colleagues' volumes and datasets"),
    P.MODELS_VIEW: _("See models"),
    P.MODELS_USE: _("Register and change models of one's own"),
    P.MODELS_REVIEW: _("Decide which version of a model goes into production"),
    P.MODELS_MANAGE_ALL: _("See and manage colleagues' models"),
    P.IMAGES_USE: _("Choose images and keep one's own"),
    P.IMAGES_MANAGE: _("Push the organisation's container images, and clear up colleagues'"),
    P.BILLING_VIEW_OWN: _("See what one's own work cost"),
    P.BILLING_VIEW: _("See the organisation's wallet, bills and everyone's cost"),
    P.BUDGETS_MANAGE: _("Make and change budgets"),
    P.BILLING_TOP_UP: _("Top up the organisation's wallet"),
    P.BILLING_PREPAY: _("Order, renew, change and give back prepaid time"),
    P.ORGANISATION_VIEW: _("See the organisation"),
    P.ORGANISATION_MANAGE: _("Change the organisation and its own roles"),
    P.MEMBERS_MANAGE: _("Invite people, and set members' department, role and priority"),
    P.QUOTAS_VIEW: _("See quotas and who uses them"),
    P.QUOTAS_MANAGE: _("Set quotas of departments and members"),
    P.PACKAGES_REVIEW: _("Approve requests for packages"),
    P.WEBHOOKS_MANAGE: _("Set up webhooks"),
    P.SECRETS_USE: _("Keep secrets of one's own, and use the organisation's"),
    P.SECRETS_MANAGE: _("Set, replace and delete the organisation's secrets"),
    P.PLATFORM_OVERVIEW: _("Open the console and see its overview"),
    P.PLATFORM_TENANTS_VIEW: _("See every organisation and its people"),
    P.PLATFORM_TENANTS_MANAGE: _("Create and change organisations and accounts"),
    P.PLATFORM_WORKLOADS_VIEW: _("See everyone's environments, runs and services"),
    P.PLATFORM_WORKLOADS_MANAGE: _("Stop, recycle and restore everyone's environments, runs and services"),
    P.PLATFORM_STORAGE_VIEW: _("See everyone's volumes and datasets"),
    P.PLATFORM_STORAGE_MANAGE: _("Expand and change everyone's volumes and datasets"),
    P.PLATFORM_IMAGES_MANAGE: _("Manage the platform's images"),
    P.PLATFORM_NODES_VIEW: _("See zones, nodes and cards"),
    P.PLATFORM_NODES_MANAGE: _("Add, cordon, drain and remove nodes"),
    P.PLATFORM_PRICES_VIEW: _("See packages and prices"),
    P.PLATFORM_PRICES_MANAGE: _("Set packages and prices"),
    P.PLATFORM_RECHARGE: _("Recharge wallets"),
    P.PLATFORM_FINANCE_VIEW: _("See recharges, charges and balances of everyone"),
    P.PLATFORM_STATEMENTS_MANAGE: _("Build, review and issue statements"),
    P.PLATFORM_INVOICES_MANAGE: _("Approve, issue and void invoices"),
    P.PLATFORM_AUDIT_VIEW: _("Read the operation log"),
    P.PLATFORM_AUDIT_MONEY: _("Read the operation log of prices, payments and other money"),
    P.PLATFORM_ROLES_MANAGE: _("Manage the platform's staff and their roles"),
    P.PLATFORM_SECURITY_VIEW: _("See the platform's staff and their roles"),
    P.PLATFORM_SETTINGS_VIEW: _("See the platform's settings"),
    P.PLATFORM_SETTINGS_MANAGE: _("Change the platform's settings"),
    P.PLATFORM_PACKAGES_REVIEW: _("Approve requests for packages of every organisation"),
}

_HEADINGS: dict[str, str | Promise] = {
    "storage": _("Data"),
    "models": _("Models"),
    "images": _("Images"),
    "billing": _("Billing"),
    "budgets": _("Billing"),
    "organisation": _("Organisation"),
    "members": _("Organisation"),
    "quotas": _("Organisation"),
    "packages": _("Organisation"),
    "webhooks": _("Organisation"),
    "secrets": _("Secrets"),
    "platform": pgettext_lazy("console", "Console"),
}


def words_for(permission: str) -> str | Promise:
    """The label of a permission; a name that this version does not know is returned unchanged."""
    added = ADDED.get(permission)
    return WORDS.get(permission, added.words if added else str(permission))


def grouped(permissions: frozenset[P]) -> list[Group]:
    """The given permissions under their headings, both in the order of `Permission`."""
    found: dict[str | Promise, list[P]] = {}
    for permission in P.every():
        if permission in permissions:
            found.setdefault(_heading(permission), []).append(permission)
    return [Group(label, tuple(names)) for label, names in found.items()]


def _heading(permission: P) -> str | Promise:
    section = permission.split(".")[0]
    added = ADDED.get(permission)
    return _HEADINGS.get(section, added.heading if added else section)
