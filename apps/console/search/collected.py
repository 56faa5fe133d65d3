"""What every room offers to be found, in the order in which kinds stand where they answer equally well."""

from apps.automl.finding import EXPERIMENTS
from apps.billing.invoices.search import INVOICES
from apps.billing.payments.search import TOP_UPS
from apps.billing.prepaid.search import ORDERS
from apps.billing.recharges.search import RECHARGES
from apps.billing.statements.search import STATEMENTS
from apps.billing.vouchers.search import VOUCHERS
from apps.common.finding.sources import Source
from apps.console.finance.packages.search import PACKAGES
from apps.console.hardware.search import CARDS, NODES, ZONES
from apps.console.organisation.departments.search import DEPARTMENTS
from apps.console.organisation.members.search import MEMBERS
from apps.console.organisation.roles.search import ROLES
from apps.console.people.accounts.search import PEOPLE, STAFF
from apps.console.people.organisations.search import ORGANISATIONS
from apps.console.people.roles.search import ROLES as PLATFORM_ROLES
from apps.console.search.pages import PAGES
from apps.console.settings.search import SETTINGS
from apps.console.work.workloads.search import WORKLOADS
from apps.envs.search import ENVIRONMENTS
from apps.modelhub.search import MODELS
from apps.pipelines.finding import PIPELINES
from apps.registry.search import IMAGES
from apps.schedules.search import SCHEDULES
from apps.secrets.search import SECRETS
from apps.serving.search import SERVICES
from apps.storage.search import DATASETS, VOLUMES
from apps.tabular.finding import SEARCHES
from apps.training.search import RUNS

SOURCES: tuple[Source, ...] = (
    PAGES,
    ORGANISATIONS,
    PEOPLE,
    MEMBERS,
    DEPARTMENTS,
    RUNS,
    EXPERIMENTS,
    PIPELINES,
    SEARCHES,
    SCHEDULES,
    ENVIRONMENTS,
    SERVICES,
    WORKLOADS,
    VOLUMES,
    DATASETS,
    MODELS,
    IMAGES,
    SECRETS,
    NODES,
    CARDS,
    ZONES,
    RECHARGES,
    TOP_UPS,
    INVOICES,
    STATEMENTS,
    ORDERS,
    VOUCHERS,
    PACKAGES,
    SETTINGS,
    STAFF,
    ROLES,
    PLATFORM_ROLES,
)
