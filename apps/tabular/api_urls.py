"""The API of searches on tables."""

from django.urls import path

from apps.tabular import api

SEARCH = "tabular/searches/<uuid:search_id>/"

urlpatterns = [
    path("tabular/preview/", api.TablePreview.as_view(), name="api-table-preview"),
    path("tabular/searches/", api.TableSearchList.as_view(), name="api-table-searches"),
    path(SEARCH, api.TableSearchDetail.as_view(), name="api-table-search"),
    path(f"{SEARCH}results/", api.TableSearchResults.as_view(), name="api-table-search-results"),
    path(f"{SEARCH}stop/", api.TableSearchStop.as_view(), name="api-table-search-stop"),
]
