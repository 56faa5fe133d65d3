"""Reading prices, money and usage, as other apps do; it lies in the rooms.

Everything is limited to the scope of the actor.
"""

from apps.billing.arrears.selectors import Standing, released_organisation_ids, standing, suspended_organisation_ids
from apps.billing.consumption.selectors import (
    ChargeFilter,
    WorkloadCost,
    charges,
    consumption_by_day,
    consumption_by_organisation,
    consumption_by_workload,
    workload_cost,
)
from apps.billing.funds.quotes import Quote, quote
from apps.billing.funds.wallets import Wallet, wallet, wallets
from apps.billing.ledger.kept_sums import day_drift, session_drift
from apps.billing.ledger.selectors import Drift, drift, unbalanced_runs
from apps.billing.metering.covering import covered_workloads, prepaid_stops
from apps.billing.metering.selectors import burn_by_organisation, burn_fen_per_hour
from apps.billing.prices.packages.selectors import current_price, packages, price_history, price_on_offer
from apps.billing.recharges.selectors import recharges

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
