"""The API of money."""

from django.urls import path

from apps.billing import api

urlpatterns = [
    path("wallet/", api.WalletView.as_view(), name="api-wallet"),
    path("recharges/", api.RechargeList.as_view(), name="api-recharges"),
    path("packages/", api.PackageList.as_view(), name="api-packages"),
    path("consumption/charges/", api.ChargeList.as_view(), name="api-charges"),
    path("consumption/days/", api.DayList.as_view(), name="api-consumption-days"),
    path("consumption/workloads/", api.WorkloadList.as_view(), name="api-consumption-workloads"),
]
