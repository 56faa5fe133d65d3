"""Pages of models."""

from django.urls import path

from apps.modelhub.views import adding, models, versions

app_name = "models"

MODEL = "<uuid:model_id>/"
VERSION = "versions/<uuid:version_id>/"

urlpatterns = [
    path("", models.model_list, name="list"),
    path("bulk/", models.bulk_act, name="bulk"),
    path("new/", models.new, name="new"),
    path(MODEL, models.detail, name="model"),
    path(f"{MODEL}add/", adding.add_version, name="add_version"),
    path(f"{MODEL}share/", models.share, name="share"),
    path(f"{MODEL}unshare/<int:user_id>/", models.unshare, name="unshare"),
    path(f"{MODEL}do/<slug:name>/", models.act, name="model_act"),
    path(VERSION, versions.detail, name="version"),
    path(f"{VERSION}delete/", versions.delete, name="delete_version"),
]
