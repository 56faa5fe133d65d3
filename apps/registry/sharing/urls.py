"""Routes of shares: pages below /images/, endpoints below /api/v1/images/."""

from django.urls import path

from apps.registry.sharing import api, pages

ONE = "repositories/<uuid:repository_id>/shares/"

routes = [
    path("shares/", pages.received_shares, name="received_shares"),
    path("shares/<uuid:share_id>/decline/", pages.decline, name="decline_share"),
    path("shares/<uuid:share_id>/accept/", pages.accept, name="accept_share"),
    path(f"{ONE}new/", pages.share, name="share_outside"),
    path(f"{ONE}<uuid:share_id>/end/", pages.take_back, name="take_back_share"),
]

endpoints = [
    path("images/shares/", api.ReceivedShares.as_view(), name="api-received-shares"),
    path("images/shares/<uuid:share_id>/decline/", api.ShareDecline.as_view(), name="api-share-decline"),
    path("images/shares/<uuid:share_id>/accept/", api.ShareAccept.as_view(), name="api-share-accept"),
    path(f"images/{ONE}", api.RepositoryShares.as_view(), name="api-repository-shares"),
    path(f"images/{ONE}<uuid:share_id>/", api.OneShare.as_view(), name="api-repository-share"),
]
