"""The organisation's bills."""

from django.urls import path

from apps.billing.statements import views as statements

urlpatterns = [
    path("bills/", statements.bills, name="bills"),
    path("bills/<uuid:statement_id>/", statements.bill, name="bill"),
    path("bills/<uuid:statement_id>/lines/<int:position>/", statements.bill_line, name="bill_line"),
]
