"""Routes of recharges: pages and endpoints."""

from django.urls import path

from apps.console.finance.recharges import api, request_views, views

pages = [
    path("recharges/", views.recharge_list, name="recharges"),
    path("recharges/new/", views.new, name="recharge_new"),
    path("recharges/create/", views.create, name="recharge_create"),
    path("recharges/<int:transfer_id>/", views.detail, name="recharge"),
    path("recharges/<int:transfer_id>/proofs/", views.attach, name="recharge_attach"),
    path("recharges/<int:transfer_id>/reverse/", request_views.reverse, name="recharge_reverse"),
    path("recharges/proofs/<int:proof_id>/", views.proof, name="recharge_proof"),
    path("recharges/requests/<uuid:recharge_request_id>/", request_views.detail, name="recharge_request"),
    path("recharges/requests/<uuid:recharge_request_id>/proofs/", request_views.attach, name="recharge_request_attach"),
    path("recharges/requests/<uuid:recharge_request_id>/deny/", request_views.deny, name="recharge_request_deny"),
    path("recharges/requests/<uuid:recharge_request_id>/<str:name>/", request_views.act, name="recharge_request_act"),
]

endpoints = [
    path("recharges/", api.Recharges.as_view()),
    path("recharges/<int:transfer_id>/", api.RechargeDetail.as_view()),
    path("recharges/<int:transfer_id>/reversal/", api.Reverse.as_view()),
    path("recharge-requests/", api.RechargeRequests.as_view()),
    path("recharge-requests/<uuid:recharge_request_id>/", api.RechargeRequestDetail.as_view()),
    path("recharge-requests/<uuid:recharge_request_id>/approve/", api.Approve.as_view()),
    path("recharge-requests/<uuid:recharge_request_id>/deny/", api.Deny.as_view()),
    path("recharge-requests/<uuid:recharge_request_id>/withdraw/", api.Withdraw.as_view()),
]
