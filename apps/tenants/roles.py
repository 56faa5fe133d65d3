"""What roles may do: sets of named permissions, and the ranks that decide who may change whom."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import Promise

from apps.common.permissions import Permission as P
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Membership

_MEMBER = frozenset(
    {
        P.STORAGE_VIEW,
        P.STORAGE_USE,
        P.MODELS_VIEW,
        P.MODELS_USE,
        P.IMAGES_USE,
        P.BILLING_VIEW_OWN,
        P.ORGANISATION_VIEW,
        P.SECRETS_USE,
    }
)
_FINANCE = frozenset(
    {
        P.BILLING_VIEW_OWN,
        P.BILLING_VIEW,
        P.BILLING_TOP_UP,
        P.BUDGETS_MANAGE,
        P.BILLING_PREPAY,
        P.ORGANISATION_VIEW,
        P.QUOTAS_VIEW,
    }
)

# Base roles that work, and those that at least look: for the permissions of kinds of work.
MEMBERS = frozenset({Role.MEMBER})
READERS = frozenset({Role.MEMBER, Role.FINANCE})

# Besides what the kinds of work add.
ORGANISATION_ROLES: dict[Role, frozenset[P]] = {
    Role.MEMBER: _MEMBER,
    Role.FINANCE: _FINANCE,
    Role.ADMIN: frozenset(p for p in P if not p.startswith("platform.")),
}

PLATFORM_ROLES: dict[PlatformRole, frozenset[P]] = {
    PlatformRole.FINANCE: frozenset(
        {
            P.PLATFORM_OVERVIEW,
            P.PLATFORM_TENANTS_VIEW,
            P.PLATFORM_PRICES_VIEW,
            P.PLATFORM_PRICES_MANAGE,
            P.PLATFORM_RECHARGE,
            P.PLATFORM_FINANCE_VIEW,
            P.PLATFORM_STATEMENTS_MANAGE,
            P.PLATFORM_INVOICES_MANAGE,
            P.PLATFORM_AUDIT_MONEY,
        }
    ),
    PlatformRole.BUSINESS: frozenset(
        {
            P.PLATFORM_OVERVIEW,
            P.PLATFORM_TENANTS_VIEW,
            P.PLATFORM_TENANTS_MANAGE,
            P.PLATFORM_WORKLOADS_VIEW,
            P.PLATFORM_WORKLOADS_MANAGE,
            P.PLATFORM_STORAGE_VIEW,
            P.PLATFORM_STORAGE_MANAGE,
            P.PLATFORM_IMAGES_MANAGE,
            P.PLATFORM_PACKAGES_REVIEW,
        }
    ),
    PlatformRole.OPS: frozenset(
        {
            P.PLATFORM_OVERVIEW,
            P.PLATFORM_WORKLOADS_VIEW,
            P.PLATFORM_STORAGE_VIEW,
            P.PLATFORM_IMAGES_MANAGE,
            P.PLATFORM_NODES_VIEW,
            P.PLATFORM_NODES_MANAGE,
        }
    ),
    PlatformRole.SUPER: frozenset(p for p in P if p.startswith("platform.")),
}

PLATFORM_PERMISSIONS = PLATFORM_ROLES[PlatformRole.SUPER]

# Who may change whom: only people of a lower rank. The platform's staff stand above every organisation.
RANKS: dict[str, int] = {Role.MEMBER: 1, Role.FINANCE: 2, Role.ADMIN: 3}
STAFF_RANK = 4


@dataclass(frozen=True, slots=True)
class KindPermission:
    """A permission for a kind of work: its label, its heading, and the base roles that hold it.

    Administrators always do.
    """

    permission: P
    words: str | Promise
    heading: str | Promise
    roles: frozenset[Role] = frozenset()


ADDED: dict[str, KindPermission] = {}


def register_permission(added: KindPermission) -> None:
    """Make a kind's permission grantable. Raises `ValueError` if it belongs to another kind."""
    if added.permission in ADDED:
        raise ValueError(f"“{added.permission}” belongs to another kind.")
    if added.permission not in P.every():
        P.add(added.permission)
    ADDED[added.permission] = added
    for role in {Role.ADMIN, *added.roles}:
        ORGANISATION_ROLES[role] |= {added.permission}


def unregister_permission(added: KindPermission) -> None:
    for role in Role:
        ORGANISATION_ROLES[role] -= {added.permission}
    if added.permission not in tuple(P):
        P.remove(added.permission)
    del ADDED[added.permission]


def organisation_permissions() -> frozenset[P]:
    """Everything that can be allowed inside an organisation."""
    return ORGANISATION_ROLES[Role.ADMIN]


def organisation_names(names: Iterable[str]) -> frozenset[P]:
    """The names that are permissions inside an organisation; unknown names, as from other versions, are ignored."""
    return organisation_permissions() & frozenset(names)


def platform_names(names: Iterable[str]) -> frozenset[P]:
    return PLATFORM_PERMISSIONS & frozenset(names)


def permissions_of(membership: Membership) -> frozenset[P]:
    """The permissions of the member's own role if there is one, else of the base role."""
    if membership.own_role is not None:
        return organisation_names(membership.own_role.permissions)
    return ORGANISATION_ROLES[Role(membership.role)]
