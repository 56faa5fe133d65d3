"""Billing pages of the portal."""

from django.urls import path

from apps.billing import document_urls
from apps.billing.budgets import views as budgets
from apps.billing.payments import views as topups
from apps.billing.prepaid import urls as prepaid_urls
from apps.billing.statements import urls as statement_urls
from apps.billing.views import consumption, export, mine, requests, vouchers, wallet

app_name = "billing"

urlpatterns = [
    path("wallet/", wallet.wallet, name="wallet"),
    path("wallet/balance/", wallet.balance, name="balance"),
    path("vouchers/", vouchers.voucher_list, name="vouchers"),
    path("top-up/", topups.new, name="top_up"),
    path("top-up/back/", topups.back, name="top_up_back"),
    path("top-up/<slug:out_trade_no>/", topups.order, name="top_up_order"),
    path("top-up/<slug:out_trade_no>/ask/", topups.ask, name="top_up_ask"),
    path("top-up/<slug:out_trade_no>/cancel/", topups.cancel, name="top_up_cancel"),
    path("alipay/notify/", topups.notify, name="alipay_notify"),
    path("budgets/", budgets.budget_list, name="budgets"),
    path("budgets/new/", budgets.new, name="budget_new"),
    path("budgets/<uuid:budget_id>/", budgets.edit, name="budget"),
    path("budgets/<uuid:budget_id>/delete/", budgets.delete, name="budget_delete"),
    *prepaid_urls.urlpatterns,
    *statement_urls.urlpatterns,
    path("consumption/", consumption.consumption, name="consumption"),
    path("consumption/days/", consumption.days, name="days"),
    path("consumption/export/", export.export, name="export"),
    *document_urls.urlpatterns,
    path("consumption/mine/", mine.mine, name="mine"),
    path("packages/<int:package_id>/ask/", requests.ask, name="ask"),
    path("packages/requests/<uuid:request_id>/withdraw/", requests.withdraw, name="request_withdraw"),
    path("consumption/<uuid:workload_id>/", consumption.run, name="run"),
]
