"""The API of money."""

from django.urls import path

from apps.billing import api, document_api_urls, vouchers_api
from apps.billing.budgets import api as budgets_api
from apps.billing.payments import api as topups_api
from apps.billing.prepaid import api_urls as prepaid_api_urls
from apps.billing.statements import api as statements_api

urlpatterns = [
    path("wallet/", api.WalletView.as_view(), name="api-wallet"),
    path("recharges/", api.RechargeList.as_view(), name="api-recharges"),
    path("vouchers/", vouchers_api.Vouchers.as_view(), name="api-vouchers"),
    path("vouchers/<int:voucher_id>/", vouchers_api.VoucherDetail.as_view(), name="api-voucher"),
    path("discount/", vouchers_api.OwnDiscount.as_view(), name="api-discount"),
    path("top-ups/", topups_api.TopUps.as_view(), name="api-top-ups"),
    path("top-ups/<slug:out_trade_no>/", topups_api.TopUpDetail.as_view(), name="api-top-up"),
    path("top-ups/<slug:out_trade_no>/cancel/", topups_api.TopUpCancel.as_view(), name="api-top-up-cancel"),
    *document_api_urls.urlpatterns,
    path("budgets/", budgets_api.Budgets.as_view(), name="api-budgets"),
    path("budgets/<uuid:budget_id>/", budgets_api.BudgetDetail.as_view(), name="api-budget"),
    path("statements/", statements_api.StatementList.as_view(), name="api-statements"),
    path("statements/<uuid:statement_id>/", statements_api.StatementDetail.as_view(), name="api-statement"),
    *prepaid_api_urls.urlpatterns,
    path("packages/", api.PackageList.as_view(), name="api-packages"),
    path("consumption/charges/", api.ChargeList.as_view(), name="api-charges"),
    path("consumption/days/", api.DayList.as_view(), name="api-consumption-days"),
    path("consumption/workloads/", api.WorkloadList.as_view(), name="api-consumption-workloads"),
]
