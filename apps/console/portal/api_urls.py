"""The API of what the portal shows across the kinds of work."""

from django.urls import path

from apps.console.portal import api

urlpatterns = [
    path("workloads/<uuid:workload_id>/contract/", api.ContractView.as_view(), name="api-workload-contract"),
    path("workloads/<uuid:workload_id>/explanation/", api.Explanation.as_view(), name="api-workload-explanation"),
    path(
        "workloads/<uuid:workload_id>/alternatives/<int:package_id>/start/",
        api.StartInstead.as_view(),
        name="api-workload-start-instead",
    ),
]
