"""Routes of revenue: pages and endpoints."""

from django.urls import path

from apps.console.finance.revenue import api, views

pages = [
    path("revenue/", views.page, name="revenue"),
    path("revenue/parts/", views.parts, name="revenue_parts"),
    path("revenue/check/", views.check, name="revenue_check"),
]

endpoints = [
    path("revenue/", api.Revenue.as_view()),
    path("revenue/packages/", api.RevenueByPackage.as_view()),
    path("revenue/organisations/", api.RevenueByOrganisation.as_view()),
]
