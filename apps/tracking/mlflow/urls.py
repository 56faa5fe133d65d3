"""MLflow's addresses, below `/api/`: clients of version 3 ask some calls under 3.0."""

from django.urls import path

from apps.tracking.mlflow.api import Mlflow
from apps.tracking.mlflow.files import Artifact, Artifacts, Multipart

urlpatterns = [
    path("2.0/mlflow-artifacts/artifacts", Artifacts.as_view(), name="api-mlflow-artifacts"),
    path("2.0/mlflow-artifacts/artifacts/<path:artifact>", Artifact.as_view(), name="api-mlflow-artifact"),
    path("2.0/mlflow-artifacts/mpu/<path:artifact>", Multipart.as_view(), name="api-mlflow-multipart"),
    path("2.0/mlflow/<path:call>", Mlflow.as_view(), name="api-mlflow"),
    path("3.0/mlflow/<path:call>", Mlflow.as_view(), name="api-mlflow-3"),
]
