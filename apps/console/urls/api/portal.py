"""The API of what the portal shows across the kinds of work."""

from django.urls import path

from apps.console.api import contract, waiting

WORKLOAD = "workloads/<uuid:workload_id>/"

urlpatterns = [
    path(f"{WORKLOAD}contract/", contract.ContractView.as_view(), name="api-workload-contract"),
    path(f"{WORKLOAD}explanation/", waiting.Explanation.as_view(), name="api-workload-explanation"),
    path(
        f"{WORKLOAD}alternatives/<int:package_id>/start/",
        waiting.StartInstead.as_view(),
        name="api-workload-start-instead",
    ),
]
