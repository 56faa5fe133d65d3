"""What-if's API."""

from django.urls import path

from apps.whatif import api

urlpatterns = [
    path("console/what-if/", api.Scenarios.as_view()),
    path("console/what-if/size/", api.ScenarioSize.as_view()),
    path("console/what-if/traces/", api.Traces.as_view()),
    path("console/what-if/traces/<uuid:trace_id>/", api.TraceDetail.as_view()),
    path("console/what-if/<uuid:scenario_id>/", api.ScenarioDetail.as_view()),
    path("console/what-if/<uuid:scenario_id>/cancel/", api.ScenarioCancel.as_view()),
    path("console/what-if/<uuid:scenario_id>/tasks.csv", api.ScenarioTaskTable.as_view()),
]
