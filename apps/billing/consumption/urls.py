"""Routes of consumption: pages and endpoints."""

from django.urls import path

from apps.billing.consumption import api, cost_views, views

pages = [
    path("consumption/", views.consumption, name="consumption"),
    path("consumption/days/", views.days, name="days"),
    path("consumption/costs/", cost_views.page, name="consumption_costs"),
    path("consumption/costs/series/", cost_views.series, name="consumption_costs_series"),
    path("consumption/costs/export/", cost_views.export, name="consumption_costs_export"),
    path("consumption/mine/", views.mine, name="mine"),
    path("consumption/<uuid:workload_id>/", views.run, name="run"),
]

endpoints = [
    path("consumption/charges/", api.ChargeList.as_view(), name="api-charges"),
    path("consumption/days/", api.DayList.as_view(), name="api-consumption-days"),
    path("consumption/workloads/", api.WorkloadList.as_view(), name="api-consumption-workloads"),
    path("consumption/costs/", api.CostList.as_view(), name="api-consumption-costs"),
]
