"""Routes of prices: endpoints."""

from django.urls import path

from apps.billing.prices.discounts import api as discounts
from apps.billing.prices.packages import api as packages

endpoints = [
    path("discount/", discounts.OwnDiscount.as_view(), name="api-discount"),
    path("packages/", packages.PackageList.as_view(), name="api-packages"),
]
