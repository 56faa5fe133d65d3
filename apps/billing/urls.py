"""Billing pages of the portal, room by room."""

from apps.billing.budgets import urls as budgets
from apps.billing.consumption import urls as consumption
from apps.billing.exports import urls as exports
from apps.billing.invoices import urls as invoices
from apps.billing.payments import urls as payments
from apps.billing.prepaid import urls as prepaid
from apps.billing.requests import urls as requests
from apps.billing.statements import urls as statements
from apps.billing.vouchers import urls as vouchers
from apps.billing.wallet import urls as wallet

app_name = "billing"

urlpatterns = [
    *budgets.pages,
    *consumption.pages,
    *exports.pages,
    *invoices.pages,
    *payments.pages,
    *prepaid.pages,
    *requests.pages,
    *statements.pages,
    *vouchers.pages,
    *wallet.pages,
]
