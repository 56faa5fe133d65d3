"""MLflow's addresses, below `/api/`: clients of version 3 ask some calls under 3.0."""

from django.urls import path

from apps.tracking.mlflow.api import Mlflow

urlpatterns = [
    path("2.0/mlflow/<path:call>", Mlflow.as_view(), name="api-mlflow"),
    path("3.0/mlflow/<path:call>", Mlflow.as_view(), name="api-mlflow-3"),
]
