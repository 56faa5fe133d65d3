"""Routes of changes: pages and endpoints."""

from django.urls import path

from apps.console.finance.changes import api, views

pages = [
    path("changes/", views.change_list, name="change_requests"),
    path("changes/<uuid:change_request_id>/", views.detail, name="change_request"),
    path("changes/<uuid:change_request_id>/deny/", views.deny, name="change_request_deny"),
    path("changes/<uuid:change_request_id>/<str:name>/", views.act, name="change_request_act"),
]

endpoints = [
    path("change-requests/", api.ChangeRequests.as_view()),
    path("change-requests/<uuid:change_request_id>/", api.ChangeRequestDetail.as_view()),
    path("change-requests/<uuid:change_request_id>/approve/", api.ChangeApprove.as_view()),
    path("change-requests/<uuid:change_request_id>/deny/", api.ChangeDeny.as_view()),
    path("change-requests/<uuid:change_request_id>/withdraw/", api.ChangeWithdraw.as_view()),
]
