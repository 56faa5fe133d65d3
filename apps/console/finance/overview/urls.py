"""Routes of overview: pages."""

from django.urls import path

from apps.console.finance.overview import views

pages = [
    path("finance/", views.page, name="finance"),
    path("finance/figures/", views.figures, name="finance_figures"),
    path("finance/months/", views.months, name="finance_months"),
]
