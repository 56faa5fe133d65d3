"""Pages of searches on tables."""

from django.urls import path

from apps.tabular.views import detail, lists, new

app_name = "tabular"

urlpatterns = [
    path("", lists.search_list, name="list"),
    path("new/", new.new, name="new"),
    path("quote/", new.quote, name="quote"),
    path("<uuid:search_id>/", detail.detail, name="detail"),
]
