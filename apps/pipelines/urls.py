"""Pages of pipelines."""

from django.urls import path

from apps.pipelines.views import acts, detail, editing, lists

app_name = "pipelines"

urlpatterns = [
    path("", lists.pipeline_list, name="list"),
    path("new/", editing.new, name="new"),
    path("file/", editing.read_file, name="read_file"),
    path("<uuid:pipeline_id>/", detail.detail, name="detail"),
    path("<uuid:pipeline_id>/edit/", editing.edit, name="edit"),
    path("<uuid:pipeline_id>/pipeline.yaml", editing.file, name="file"),
    path("<uuid:pipeline_id>/start/", acts.start, name="start"),
    path("<uuid:pipeline_id>/ask/<str:name>/", acts.ask, name="ask"),
    path("<uuid:pipeline_id>/<str:name>/", acts.act, name="act"),
    path("runs/<uuid:pipeline_run_id>/", detail.run, name="run"),
    path("runs/<uuid:pipeline_run_id>/ask/<str:name>/", acts.ask_run, name="ask_run"),
    path("runs/<uuid:pipeline_run_id>/<str:name>/", acts.act_run, name="act_run"),
]
