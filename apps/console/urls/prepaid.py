"""Pages of prepaid time: every organisation's orders, and a package's prices by the period."""

from django.urls import path

from apps.console.views import prepaid

urlpatterns = [
    path("prepaid/", prepaid.order_list, name="prepaid"),
    path("prepaid/<uuid:prepaid_order_id>/", prepaid.detail, name="prepaid_order"),
    path("prepaid/<uuid:prepaid_order_id>/give-back/", prepaid.give_back, name="prepaid_order_give_back"),
    path("packages/<int:package_id>/terms/", prepaid.terms, name="package_terms"),
]
