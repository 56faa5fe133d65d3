"""Billing pages of the portal."""

from django.urls import path

from apps.billing.views import consumption, export, mine, requests, wallet

app_name = "billing"

urlpatterns = [
    path("wallet/", wallet.wallet, name="wallet"),
    path("wallet/balance/", wallet.balance, name="balance"),
    path("consumption/", consumption.consumption, name="consumption"),
    path("consumption/days/", consumption.days, name="days"),
    path("consumption/export/", export.export, name="export"),
    path("consumption/mine/", mine.mine, name="mine"),
    path("packages/<int:package_id>/ask/", requests.ask, name="ask"),
    path("packages/requests/<uuid:request_id>/withdraw/", requests.withdraw, name="request_withdraw"),
    path("consumption/<uuid:workload_id>/", consumption.run, name="run"),
]
