"""The REST API, version 1, and its description."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from apps.common.api_root import ApiRoot
from apps.workloads import kinds

urlpatterns = [
    path("", ApiRoot.as_view(), name="api"),
    path("v1/", ApiRoot.as_view(), name="api-v1"),
    *(path("v1/", include(rules.routes.api)) for rules in kinds.every()),
    path("v1/", include("apps.automl.api_urls")),
    path("v1/", include("apps.pipelines.api_urls")),
    path("v1/", include("apps.tabular.api_urls")),
    path("v1/", include("apps.tracking.api_urls")),
    path("v1/", include("apps.modelhub.api_urls")),
    path("v1/", include("apps.registry.api_urls")),
    path("v1/", include("apps.storage.api_urls")),
    path("v1/", include("apps.billing.api_urls")),
    path("v1/", include("apps.tenants.api_urls")),
    path("v1/", include("apps.notifications.api_urls")),
    path("v1/", include("apps.schedules.api_urls")),
    path("v1/", include("apps.secrets.api_urls")),
    path("v1/", include("apps.workloads.api_urls")),
    path("v1/", include("apps.console.portal.api_urls")),
    path("v1/", include("apps.whatif.api_urls")),
    path("v1/", include("apps.console.api_urls")),
    path("", include("apps.tracking.mlflow.urls")),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerView.as_view(url_name="schema"), name="api-docs"),
]
