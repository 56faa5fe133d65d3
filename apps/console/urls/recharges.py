"""Pages of recharges and of those that wait for a second person."""

from django.urls import path

from apps.console.views import arrears, recharge_requests, recharges

ASKED = "recharges/requests/<uuid:recharge_request_id>"

urlpatterns = [
    path("arrears/", arrears.arrears_list, name="arrears"),
    path("organisations/<uuid:organisation_id>/arrears/", arrears.terms, name="organisation_arrears"),
    path("organisations/<uuid:organisation_id>/release/", arrears.release, name="organisation_release"),
    path("recharges/", recharges.recharge_list, name="recharges"),
    path("recharges/new/", recharges.new, name="recharge_new"),
    path("recharges/create/", recharges.create, name="recharge_create"),
    path("recharges/<int:transfer_id>/", recharges.detail, name="recharge"),
    path("recharges/<int:transfer_id>/proofs/", recharges.attach, name="recharge_attach"),
    path("recharges/<int:transfer_id>/reverse/", recharge_requests.reverse, name="recharge_reverse"),
    path("recharges/proofs/<int:proof_id>/", recharges.proof, name="recharge_proof"),
    path(f"{ASKED}/", recharge_requests.detail, name="recharge_request"),
    path(f"{ASKED}/proofs/", recharge_requests.attach, name="recharge_request_attach"),
    path(f"{ASKED}/deny/", recharge_requests.deny, name="recharge_request_deny"),
    path(f"{ASKED}/<str:name>/", recharge_requests.act, name="recharge_request_act"),
]
