"""Routes of workloads: pages and endpoints."""

from django.urls import path

from apps.console.work.workloads import api, views

pages = [
    path("workloads/bulk/", views.bulk_act, name="workloads_bulk"),
    path("workloads/", views.workload_list, name="workloads"),
    path("workloads/<uuid:workload_id>/", views.detail, name="workload"),
    path("workloads/<uuid:workload_id>/log/", views.log, name="workload_log"),
    path("workloads/<uuid:workload_id>/stop/", views.stop, name="workload_stop"),
]

endpoints = [
    path("workloads/", api.Workloads.as_view()),
    path("workloads/<uuid:workload_id>/", api.WorkloadDetail.as_view()),
    path("workloads/<uuid:workload_id>/events/", api.WorkloadEvents.as_view()),
    path("workloads/<uuid:workload_id>/log/", api.WorkloadLog.as_view(), name="api-workload-log"),
    path("workloads/<uuid:workload_id>/log/lines/", api.WorkloadLogLines.as_view()),
    path("workloads/<uuid:workload_id>/log/search/", api.WorkloadLogSearch.as_view()),
    path("workloads/<uuid:workload_id>/stop/", api.WorkloadStop.as_view()),
]
