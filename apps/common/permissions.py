"""The names of all permissions. Roles are sets of these; every route declares one."""

from enum import StrEnum

from apps.common.open_choices import OpenChoices


class Permission(OpenChoices, StrEnum):
    """What an actor may do inside one organisation, or, for `PLATFORM_*`, across all of them.

    A kind of work adds its own: `tenants.roles.register_permission`.
    """

    TRAINING_VIEW = "training.view"
    TRAINING_SUBMIT = "training.submit"
    TRAINING_MANAGE_ALL = "training.manage_all"  # stop, rerun and read the runs of colleagues
    ENVIRONMENTS_VIEW = "environments.view"
    ENVIRONMENTS_USE = "environments.use"  # create, open, start and stop one's own
    ENVIRONMENTS_MANAGE_ALL = "environments.manage_all"  # those of colleagues
    STORAGE_VIEW = "storage.view"
    STORAGE_USE = "storage.use"  # volumes and datasets of one's own, and shared ones
    STORAGE_MANAGE_ALL = "storage.manage_all"
    MODELS_VIEW = "models.view"
    MODELS_USE = "models.use"  # models of one's own, and shared ones
    MODELS_REVIEW = "models.review"  # decide which version goes into production
    MODELS_MANAGE_ALL = "models.manage_all"
    IMAGES_USE = "images.use"  # choose images and keep one's own
    IMAGES_MANAGE = "images.manage"  # push to the organisation's repositories, and clear up colleagues'
    BUILDS_VIEW = "builds.view"
    SERVICES_VIEW = "services.view"
    SERVICES_USE = "services.use"  # create, update, start and stop one's own, and their keys
    SERVICES_MANAGE_ALL = "services.manage_all"  # those of colleagues
    BILLING_VIEW_OWN = "billing.view_own"
    BILLING_VIEW = "billing.view"
    BILLING_TOP_UP = "billing.top_up"  # pay into the wallet
    BILLING_PREPAY = "billing.prepay"  # order, renew, change and give back prepaid time
    BUDGETS_MANAGE = "budgets.manage"
    ORGANISATION_VIEW = "organisation.view"
    ORGANISATION_MANAGE = "organisation.manage"
    MEMBERS_MANAGE = "members.manage"  # departments, invitations, roles and priorities of members
    QUOTAS_VIEW = "quotas.view"
    QUOTAS_MANAGE = "quotas.manage"
    PACKAGES_REVIEW = "packages.review"  # approve requests for packages that need it
    WEBHOOKS_MANAGE = "webhooks.manage"
    SECRETS_USE = "secrets.use"  # keep one's own, and give them and the organisation's to one's work
    SECRETS_MANAGE = "secrets.manage"  # set, replace and delete the organisation's

    PLATFORM_OVERVIEW = "platform.overview"
    PLATFORM_TENANTS_VIEW = "platform.tenants.view"
    PLATFORM_TENANTS_MANAGE = "platform.tenants.manage"
    PLATFORM_WORKLOADS_VIEW = "platform.workloads.view"
    PLATFORM_WORKLOADS_MANAGE = "platform.workloads.manage"
    PLATFORM_STORAGE_VIEW = "platform.storage.view"
    PLATFORM_STORAGE_MANAGE = "platform.storage.manage"
    PLATFORM_IMAGES_MANAGE = "platform.images.manage"
    PLATFORM_NODES_VIEW = "platform.nodes.view"
    PLATFORM_NODES_MANAGE = "platform.nodes.manage"
    PLATFORM_PRICES_VIEW = "platform.prices.view"
    PLATFORM_PRICES_MANAGE = "platform.prices.manage"
    PLATFORM_RECHARGE = "platform.recharge"
    PLATFORM_FINANCE_VIEW = "platform.finance.view"
    PLATFORM_STATEMENTS_MANAGE = "platform.statements.manage"  # build, review and issue statements
    PLATFORM_INVOICES_MANAGE = "platform.invoices.manage"
    PLATFORM_AUDIT_VIEW = "platform.audit.view"
    PLATFORM_AUDIT_MONEY = "platform.audit.money"  # the part of the log that concerns money
    PLATFORM_ROLES_MANAGE = "platform.roles.manage"
    PLATFORM_SECURITY_VIEW = "platform.security.view"  # roles and admin accounts
    PLATFORM_SETTINGS_VIEW = "platform.settings.view"
    PLATFORM_SETTINGS_MANAGE = "platform.settings.manage"
    PLATFORM_PACKAGES_REVIEW = "platform.packages.review"
