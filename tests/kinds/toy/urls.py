"""The site with toys in it, as the composition root has the pages of each kind."""

from django.urls import include, path

from plstack import urls
from tests.kinds.toy import pages

toys = [
    path("", pages.toy_list, name="list"),
    path("<uuid:workload_id>/", pages.detail, name="detail"),
    path("<uuid:workload_id>/log/", pages.log, name="log"),
]
handler500 = urls.handler500
urlpatterns = [path("toys/", include((toys, "toys"))), *urls.urlpatterns]
