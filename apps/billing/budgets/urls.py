"""Routes of budgets: pages and endpoints."""

from django.urls import path

from apps.billing.budgets import api, views

pages = [
    path("budgets/", views.budget_list, name="budgets"),
    path("budgets/new/", views.new, name="budget_new"),
    path("budgets/<uuid:budget_id>/", views.edit, name="budget"),
    path("budgets/<uuid:budget_id>/delete/", views.delete, name="budget_delete"),
]

endpoints = [
    path("budgets/", api.Budgets.as_view(), name="api-budgets"),
    path("budgets/<uuid:budget_id>/", api.BudgetDetail.as_view(), name="api-budget"),
]
