"""Routes of packages: pages and endpoints."""

from django.urls import path

from apps.console.finance.packages import api, views

pages = [
    path("packages/bulk/", views.bulk_act, name="packages_bulk"),
    path("packages/", views.package_list, name="packages"),
    path("packages/new/", views.new, name="package_new"),
    path("packages/<int:package_id>/", views.detail, name="package"),
    path("packages/<int:package_id>/edit/", views.edit, name="package_edit"),
    path("packages/<int:package_id>/price/", views.price, name="package_price"),
    path("packages/<int:package_id>/follow/", views.follow, name="package_follow"),
    path("packages/<int:package_id>/withdraw/", views.withdraw, name="package_withdraw"),
    path("packages/<int:package_id>/offer/", views.offer, name="package_offer"),
    path("packages/<int:package_id>/review/", views.needs_review, name="package_review"),
]

endpoints = [
    path("packages/", api.Packages.as_view()),
    path("packages/<int:package_id>/", api.PackageDetail.as_view()),
    path("packages/<int:package_id>/withdraw/", api.PackageWithdraw.as_view()),
    path("packages/<int:package_id>/offer/", api.PackageOffer.as_view()),
    path("packages/<int:package_id>/prices/", api.Prices.as_view()),
    path("packages/<int:package_id>/prices/preview/", api.PricePreview.as_view()),
    path("packages/<int:package_id>/follow/", api.PackageFollow.as_view()),
]
