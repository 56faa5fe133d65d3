"""Pages of models."""

from django.urls import path

from apps.modelhub.views import adding, comparing, models, stages, versions

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
    path(f"{MODEL}compare/", comparing.compare, name="compare"),
    path(f"{MODEL}aliases/<str:alias>/remove/", stages.remove_alias, name="remove_alias"),
    path(f"{MODEL}do/<slug:name>/", models.act, name="model_act"),
    path(VERSION, versions.detail, name="version"),
    path(f"{VERSION}delete/", versions.delete, name="delete_version"),
    path(f"{VERSION}card/", versions.card, name="card"),
    path(f"{VERSION}alias/", stages.set_alias, name="set_alias"),
    path(f"{VERSION}production/", stages.ask, name="ask_production"),
    path("promotions/<uuid:promotion_id>/<slug:name>/", stages.decide, name="decide"),
]
