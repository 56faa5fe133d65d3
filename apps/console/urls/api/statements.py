"""The API of statements and of revenue."""

from django.urls import path

from apps.console.api import revenue, statements

urlpatterns = [
    path("revenue/", revenue.Revenue.as_view()),
    path("revenue/packages/", revenue.RevenueByPackage.as_view()),
    path("revenue/organisations/", revenue.RevenueByOrganisation.as_view()),
    path("statements/", statements.Statements.as_view()),
    path("statements/build/", statements.StatementsBuild.as_view()),
    path("statements/<uuid:statement_id>/", statements.StatementOfDetail.as_view()),
    path("statements/<uuid:statement_id>/review/", statements.StatementReview.as_view()),
    path("statements/<uuid:statement_id>/issue/", statements.StatementIssue.as_view()),
    path("statements/<uuid:statement_id>/reopen/", statements.StatementReopen.as_view()),
]
