"""Reading prices, money and usage. Everything is limited to the scope of the actor."""

from apps.billing.selectors.arrears import (
    Standing,
    released_organisation_ids,
    standing,
    suspended_organisation_ids,
)
from apps.billing.selectors.catalogue import current_price, packages, price_history, price_on_offer
from apps.billing.selectors.consumption import (
    ChargeFilter,
    WorkloadCost,
    charges,
    consumption_by_day,
    consumption_by_organisation,
    consumption_by_workload,
    workload_cost,
)
from apps.billing.selectors.covering import covered_workloads, prepaid_stops
from apps.billing.selectors.kept_sums import day_drift, session_drift
from apps.billing.selectors.ledger import Drift, drift, unbalanced_runs
from apps.billing.selectors.metering import burn_by_organisation, burn_fen_per_hour
from apps.billing.selectors.quotes import Quote, quote
from apps.billing.selectors.wallets import Wallet, recharges, wallet, wallets

__all__ = [
    "ChargeFilter",
    "Drift",
    "Quote",
    "Standing",
    "Wallet",
    "WorkloadCost",
    "burn_by_organisation",
    "burn_fen_per_hour",
    "charges",
    "consumption_by_day",
    "consumption_by_organisation",
    "consumption_by_workload",
    "covered_workloads",
    "current_price",
    "day_drift",
    "drift",
    "packages",
    "prepaid_stops",
    "price_history",
    "price_on_offer",
    "quote",
    "recharges",
    "released_organisation_ids",
    "session_drift",
    "standing",
    "suspended_organisation_ids",
    "unbalanced_runs",
    "wallet",
    "wallets",
    "workload_cost",
]
