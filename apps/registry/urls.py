"""Pages of images."""

from django.urls import path

from apps.registry import views

app_name = "registry"

urlpatterns = [
    path("", views.image_list, name="list"),
    path("<uuid:image_id>/share/", views.share, name="share"),
    path("<uuid:image_id>/remove/", views.remove, name="remove"),
]
