"""Routes of units: pages and endpoints."""

from django.urls import path

from apps.console.finance.units import api, views

pages = [
    path("prices/", views.unit_list, name="units"),
    path("prices/new/", views.new, name="unit_new"),
    path("prices/<int:price_id>/", views.detail, name="unit"),
    path("prices/<int:price_id>/end/", views.end, name="unit_end"),
]

endpoints = [
    path("prices/", api.UnitPrices.as_view()),
    path("prices/preview/", api.UnitPricePreview.as_view()),
    path("prices/<int:price_id>/end/", api.UnitPriceEnd.as_view()),
]
