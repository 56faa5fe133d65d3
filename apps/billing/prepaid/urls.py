"""Pages of prepaid time."""

from django.urls import path

from apps.billing.prepaid import order_views as prepaid_order
from apps.billing.prepaid import views as prepaid

ORDER = "prepaid/<uuid:prepaid_order_id>"

urlpatterns = [
    path("prepaid/", prepaid.order_list, name="prepaid"),
    path("prepaid/new/", prepaid.new, name="prepaid_new"),
    path("prepaid/quote/", prepaid.quote, name="prepaid_quote"),
    path(f"{ORDER}/", prepaid_order.order, name="prepaid_order"),
    path(f"{ORDER}/renew/", prepaid_order.renew, name="prepaid_renew"),
    path(f"{ORDER}/renewal/", prepaid_order.settings, name="prepaid_settings"),
    path(f"{ORDER}/change/", prepaid_order.change, name="prepaid_change"),
    path(f"{ORDER}/give-back/", prepaid_order.give_back, name="prepaid_give_back"),
]
