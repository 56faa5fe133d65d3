"""The first page of Finance, revenue, and statements."""

from django.urls import path

from apps.console.views import finance, revenue, statements

urlpatterns = [
    path("finance/", finance.page, name="finance"),
    path("finance/figures/", finance.figures, name="finance_figures"),
    path("finance/months/", finance.months, name="finance_months"),
    path("revenue/", revenue.page, name="revenue"),
    path("revenue/parts/", revenue.parts, name="revenue_parts"),
    path("revenue/check/", revenue.check, name="revenue_check"),
    path("statements/", statements.statement_list, name="statements"),
    path("statements/bulk/", statements.bulk, name="statements_bulk"),
    path("statements/build/", statements.build_month, name="statements_build"),
    path("statements/<uuid:statement_id>/", statements.detail, name="statement"),
    path("statements/<uuid:statement_id>/reopen/", statements.reopen, name="statement_reopen"),
    path("statements/<uuid:statement_id>/lines/<int:position>/", statements.line, name="statement_line"),
    path("statements/<uuid:statement_id>/<slug:name>/", statements.act, name="statement_act"),
]
