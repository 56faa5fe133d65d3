"""Pages of statements."""

from django.urls import path

from apps.console.views import statements

urlpatterns = [
    path("statements/", statements.statement_list, name="statements"),
    path("statements/bulk/", statements.bulk, name="statements_bulk"),
    path("statements/build/", statements.build_month, name="statements_build"),
    path("statements/<uuid:statement_id>/", statements.detail, name="statement"),
    path("statements/<uuid:statement_id>/reopen/", statements.reopen, name="statement_reopen"),
    path("statements/<uuid:statement_id>/lines/<int:position>/", statements.line, name="statement_line"),
    path("statements/<uuid:statement_id>/<slug:name>/", statements.act, name="statement_act"),
]
