"""Routes of storage: pages."""

from django.urls import path

from apps.console.work.storage import views

pages = [
    path("volumes/bulk/", views.volume_bulk, name="volumes_bulk"),
    path("datasets/bulk/", views.dataset_bulk, name="datasets_bulk"),
    path("volumes/", views.volume_list, name="volumes"),
    path("volumes/<uuid:volume_id>/<slug:name>/", views.volume_act, name="volume_act"),
    path("datasets/", views.dataset_list, name="datasets"),
    path("datasets/<uuid:dataset_id>/<slug:name>/", views.dataset_act, name="dataset_act"),
]
