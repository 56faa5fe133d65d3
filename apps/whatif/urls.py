"""Pages of what-if, in the console."""

from django.urls import path

from apps.whatif.views import new, scenarios, traces

app_name = "whatif"

urlpatterns = [
    path("", scenarios.scenario_list, name="list"),
    path("new/", new.new, name="new"),
    path("new/change/", new.change, name="change"),
    path("new/size/", new.size, name="size"),
    path("traces/", traces.upload, name="trace_upload"),
    path("traces/past.csv", traces.past, name="past"),
    path("traces/<uuid:trace_id>/delete/", traces.delete, name="trace_delete"),
    path("<uuid:scenario_id>/", scenarios.detail, name="scenario"),
    path("<uuid:scenario_id>/cancel/", scenarios.cancel, name="cancel"),
    path("<uuid:scenario_id>/delete/", scenarios.delete, name="delete"),
    path("<uuid:scenario_id>/tasks.csv", scenarios.tasks, name="tasks"),
    path("<uuid:scenario_id>/series/<slug:name>/", scenarios.series, name="series"),
]
