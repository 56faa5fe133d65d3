"""Pages and endpoints of Finance."""

from apps.console.finance.adjustments import urls as adjustments
from apps.console.finance.alipay_payments import urls as alipay_payments
from apps.console.finance.arrears import urls as arrears
from apps.console.finance.changes import urls as changes
from apps.console.finance.consumption import urls as consumption
from apps.console.finance.discounts import urls as discounts
from apps.console.finance.exports import urls as exports
from apps.console.finance.invoices import urls as invoices
from apps.console.finance.overview import urls as overview
from apps.console.finance.packages import urls as packages
from apps.console.finance.prepaid import urls as prepaid
from apps.console.finance.recharges import urls as recharges
from apps.console.finance.reconciliation import urls as reconciliation
from apps.console.finance.refunds import urls as refunds
from apps.console.finance.revenue import urls as revenue
from apps.console.finance.statements import urls as statements
from apps.console.finance.storage_price import urls as storage_price
from apps.console.finance.units import urls as units
from apps.console.finance.vouchers import urls as vouchers

pages = [
    *adjustments.pages,
    *alipay_payments.pages,
    *arrears.pages,
    *changes.pages,
    *consumption.pages,
    *discounts.pages,
    *exports.pages,
    *invoices.pages,
    *overview.pages,
    *packages.pages,
    *prepaid.pages,
    *recharges.pages,
    *reconciliation.pages,
    *refunds.pages,
    *revenue.pages,
    *statements.pages,
    *storage_price.pages,
    *units.pages,
    *vouchers.pages,
]

endpoints = [
    *adjustments.endpoints,
    *alipay_payments.endpoints,
    *arrears.endpoints,
    *changes.endpoints,
    *consumption.endpoints,
    *discounts.endpoints,
    *exports.endpoints,
    *invoices.endpoints,
    *packages.endpoints,
    *prepaid.endpoints,
    *recharges.endpoints,
    *reconciliation.endpoints,
    *refunds.endpoints,
    *revenue.endpoints,
    *statements.endpoints,
    *storage_price.endpoints,
    *units.endpoints,
    *vouchers.endpoints,
]
