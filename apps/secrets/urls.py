"""Pages of secrets."""

from django.urls import path

from apps.secrets import views

app_name = "secrets"

urlpatterns = [
    path("", views.secret_list, name="list"),
    path("new/", views.new, name="new"),
    path("choices/", views.choices, name="choices"),
    path("<uuid:secret_id>/", views.detail, name="detail"),
    path("<uuid:secret_id>/rotate/", views.rotate, name="rotate"),
    path("<uuid:secret_id>/describe/", views.describe, name="describe"),
    path("<uuid:secret_id>/delete/", views.delete, name="delete"),
]
