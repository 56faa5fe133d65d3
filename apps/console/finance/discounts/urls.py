"""Routes of discounts: pages and endpoints."""

from django.urls import path

from apps.console.finance.discounts import api, views

pages = [
    path("discounts/", views.discount_list, name="discounts"),
    path("discounts/new/", views.new, name="discount_new"),
    path("discounts/reading/", views.reading, name="discount_reading"),
    path("discounts/<int:discount_id>/end/", views.end, name="discount_end"),
]

endpoints = [
    path("discounts/", api.Discounts.as_view()),
    path("discounts/preview/", api.DiscountPreview.as_view()),
    path("discounts/<int:discount_id>/end/", api.DiscountEnd.as_view()),
]
