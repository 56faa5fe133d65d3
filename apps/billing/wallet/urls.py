"""Routes of the wallet: pages and endpoints."""

from django.urls import path

from apps.billing.wallet import api, views

pages = [
    path("wallet/", views.wallet, name="wallet"),
    path("wallet/balance/", views.balance, name="balance"),
]

endpoints = [
    path("wallet/", api.WalletView.as_view(), name="api-wallet"),
]
