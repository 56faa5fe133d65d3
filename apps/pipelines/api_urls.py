"""The API of pipelines."""

from django.urls import path

from apps.pipelines import api

PIPELINE, RUN = "pipelines/<uuid:pipeline_id>/", "pipelines/runs/<uuid:pipeline_run_id>/"

urlpatterns = [
    path("pipelines/", api.PipelineList.as_view(), name="api-pipelines"),
    path(PIPELINE, api.PipelineDetail.as_view(), name="api-pipeline"),
    path(f"{PIPELINE}runs/", api.PipelineRunList.as_view(), name="api-pipeline-runs"),
    path(f"{PIPELINE}hook/", api.PipelineHook.as_view(), name="api-pipeline-hook"),
    path(f"{PIPELINE}hook-token/", api.PipelineHookToken.as_view(), name="api-pipeline-hook-token"),
    path(RUN, api.PipelineRunDetail.as_view(), name="api-pipeline-run"),
    path(f"{RUN}steps/", api.PipelineRunSteps.as_view(), name="api-pipeline-run-steps"),
    path(f"{RUN}stop/", api.PipelineRunStop.as_view(), name="api-pipeline-run-stop"),
    path(f"{RUN}again/", api.PipelineRunAgain.as_view(), name="api-pipeline-run-again"),
]
