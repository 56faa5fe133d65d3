"""The API of money, room by room."""

from apps.billing.adjustments import urls as adjustments
from apps.billing.budgets import urls as budgets
from apps.billing.consumption import urls as consumption
from apps.billing.exports import urls as exports
from apps.billing.invoices import urls as invoices
from apps.billing.payments import urls as payments
from apps.billing.prepaid import urls as prepaid
from apps.billing.prices import urls as prices
from apps.billing.recharges import urls as recharges
from apps.billing.statements import urls as statements
from apps.billing.vouchers import urls as vouchers
from apps.billing.wallet import urls as wallet

urlpatterns = [
    *adjustments.endpoints,
    *budgets.endpoints,
    *consumption.endpoints,
    *exports.endpoints,
    *invoices.endpoints,
    *payments.endpoints,
    *prepaid.endpoints,
    *prices.endpoints,
    *recharges.endpoints,
    *statements.endpoints,
    *vouchers.endpoints,
    *wallet.endpoints,
]
