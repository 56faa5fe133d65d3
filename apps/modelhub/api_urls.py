"""The API of models."""

from django.urls import path

from apps.modelhub import api, stages_api

MODEL = "models/<uuid:model_id>/"
VERSION = "models/versions/<uuid:version_id>/"

urlpatterns = [
    path("models/", api.ModelList.as_view(), name="api-models"),
    path(MODEL, api.ModelDetail.as_view(), name="api-model"),
    path(f"{MODEL}restore/", api.ModelRestore.as_view(), name="api-model-restore"),
    path(f"{MODEL}purge/", api.ModelPurge.as_view(), name="api-model-purge"),
    path(f"{MODEL}draft/", api.ModelDraft.as_view(), name="api-model-draft"),
    path(f"{MODEL}versions/", api.VersionList.as_view(), name="api-model-versions"),
    path(f"{MODEL}shares/", api.ModelShares.as_view(), name="api-model-shares"),
    path(f"{MODEL}shares/<int:user_id>/", api.ModelShareOf.as_view(), name="api-model-share"),
    path(f"{MODEL}aliases/", stages_api.AliasList.as_view(), name="api-model-aliases"),
    path(f"{MODEL}aliases/<str:alias>/", stages_api.AliasDetail.as_view(), name="api-model-alias"),
    path(f"{VERSION}promotions/", stages_api.PromotionList.as_view(), name="api-model-promotions"),
    path("models/promotions/<uuid:promotion_id>/", stages_api.PromotionDecision.as_view(), name="api-model-promotion"),
    path(VERSION, api.VersionDetail.as_view(), name="api-model-version"),
]
