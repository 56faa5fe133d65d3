"""The names of everything that can be allowed. Roles are sets of these; every route declares one."""

from enum import StrEnum


class Permission(StrEnum):
    """What an actor may do inside one organisation, or, for `PLATFORM_*`, across all of them."""

    TRAINING_VIEW = "training.view"
    TRAINING_SUBMIT = "training.submit"
    TRAINING_MANAGE_ALL = "training.manage_all"  # stop, rerun and read the runs of colleagues
    BILLING_VIEW_OWN = "billing.view_own"
    BILLING_VIEW = "billing.view"
    ORGANISATION_VIEW = "organisation.view"
    ORGANISATION_MANAGE = "organisation.manage"

    PLATFORM_OVERVIEW = "platform.overview"
    PLATFORM_TENANTS_VIEW = "platform.tenants.view"
    PLATFORM_TENANTS_MANAGE = "platform.tenants.manage"
    PLATFORM_WORKLOADS_VIEW = "platform.workloads.view"
    PLATFORM_WORKLOADS_MANAGE = "platform.workloads.manage"
    PLATFORM_NODES_VIEW = "platform.nodes.view"
    PLATFORM_NODES_MANAGE = "platform.nodes.manage"
    PLATFORM_PRICES_VIEW = "platform.prices.view"
    PLATFORM_PRICES_MANAGE = "platform.prices.manage"
    PLATFORM_RECHARGE = "platform.recharge"
    PLATFORM_FINANCE_VIEW = "platform.finance.view"
    PLATFORM_AUDIT_VIEW = "platform.audit.view"
    PLATFORM_ROLES_MANAGE = "platform.roles.manage"
