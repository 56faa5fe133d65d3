"""The API of experiments."""

from django.urls import path

from apps.automl import api

EXPERIMENT = "tuning/experiments/<uuid:experiment_id>/"

urlpatterns = [
    path("tuning/experiments/", api.ExperimentList.as_view(), name="api-experiments"),
    path(EXPERIMENT, api.ExperimentDetail.as_view(), name="api-experiment"),
    path(f"{EXPERIMENT}stop/", api.ExperimentStop.as_view(), name="api-experiment-stop"),
    path(f"{EXPERIMENT}pause/", api.ExperimentPause.as_view(), name="api-experiment-pause"),
    path(f"{EXPERIMENT}go-on/", api.ExperimentGoOn.as_view(), name="api-experiment-go-on"),
    path(f"{EXPERIMENT}trials/", api.TrialList.as_view(), name="api-trials"),
    path(f"{EXPERIMENT}trials/<int:number>/stop/", api.TrialStop.as_view(), name="api-trial-stop"),
]
