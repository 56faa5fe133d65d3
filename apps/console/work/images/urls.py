"""Routes of images: pages and endpoints."""

from django.urls import path

from apps.console.work.images import api, views

pages = [
    path("images/", views.image_list, name="images"),
    path("images/new/", views.new, name="image_new"),
    path("images/<uuid:image_id>/", views.detail, name="image"),
    path("images/<uuid:image_id>/edit/", views.edit, name="image_edit"),
    path("images/<uuid:image_id>/withdraw/", views.withdraw, name="image_withdraw"),
]

endpoints = [
    path("images/", api.Images.as_view()),
    path("images/<uuid:image_id>/", api.ImageDetail.as_view()),
    path("images/<uuid:image_id>/withdraw/", api.ImageWithdraw.as_view()),
]
