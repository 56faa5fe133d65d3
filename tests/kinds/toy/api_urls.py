"""The API of toys."""

from django.urls import path

from tests.kinds.toy.api import Band, Toys

urlpatterns = [
    path("toys/", Toys.as_view(), name="api-toys"),
    path("toys/bands/<uuid:set_id>/", Band.as_view(), name="api-band"),
]
