"""Routes of statements: pages and endpoints."""

from django.urls import path

from apps.console.finance.statements import api, views

pages = [
    path("statements/", views.statement_list, name="statements"),
    path("statements/bulk/", views.bulk, name="statements_bulk"),
    path("statements/build/", views.build_month, name="statements_build"),
    path("statements/<uuid:statement_id>/", views.detail, name="statement"),
    path("statements/<uuid:statement_id>/reopen/", views.reopen, name="statement_reopen"),
    path("statements/<uuid:statement_id>/lines/<int:position>/", views.line, name="statement_line"),
    path("statements/<uuid:statement_id>/<slug:name>/", views.act, name="statement_act"),
]

endpoints = [
    path("statements/", api.Statements.as_view()),
    path("statements/build/", api.StatementsBuild.as_view()),
    path("statements/<uuid:statement_id>/", api.StatementOfDetail.as_view()),
    path("statements/<uuid:statement_id>/review/", api.StatementReview.as_view()),
    path("statements/<uuid:statement_id>/issue/", api.StatementIssue.as_view()),
    path("statements/<uuid:statement_id>/reopen/", api.StatementReopen.as_view()),
]
