"""Routes of storage price: pages and endpoints."""

from django.urls import path

from apps.console.finance.storage_price import api, views

pages = [
    path("storage-price/", views.page, name="storage_price"),
]

endpoints = [
    path("storage-price/", api.StoragePrices.as_view()),
    path("storage-price/preview/", api.StoragePricePreview.as_view()),
]
