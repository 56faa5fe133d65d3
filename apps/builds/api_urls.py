"""The API of builds."""

from django.urls import path

from apps.builds import api

BUILD = "builds/<uuid:build_id>/"

urlpatterns = [
    path("builds/", api.BuildList.as_view(), name="api-builds"),
    path("builds/cache/", api.BuildCache.as_view(), name="api-build-cache"),
    path("builds/preview/", api.BuildPreview.as_view(), name="api-build-preview"),
    path("builds/recipes/", api.RecipeList.as_view(), name="api-build-recipes"),
    path(BUILD, api.BuildDetail.as_view(), name="api-build"),
    path(f"{BUILD}stop/", api.BuildStop.as_view(), name="api-build-stop"),
    path(f"{BUILD}log/", api.BuildLog.as_view(), name="api-build-log"),
    path(f"{BUILD}log/lines/", api.BuildLogLines.as_view(), name="api-build-log-lines"),
    path(f"{BUILD}log/search/", api.BuildLogSearch.as_view(), name="api-build-log-search"),
]
