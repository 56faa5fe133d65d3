"""The API of services."""

from django.urls import path

from apps.serving.api import gateway, keys, logs, scaling, services

SERVICE = "services/<uuid:service_id>/"
LOG = f"{SERVICE}replicas/<int:replica>/log/"

urlpatterns = [
    path("services/", services.ServiceList.as_view(), name="api-services"),
    path("services/gateway/names/", gateway.GatewayNameList.as_view(), name="api-gateway-names"),
    path("services/gateway/names/<uuid:model_name_id>/", gateway.GatewayName.as_view(), name="api-gateway-name"),
    path("services/gateway/keys/", gateway.GatewayKeyList.as_view(), name="api-gateway-keys"),
    path("services/gateway/keys/<uuid:gateway_key_id>/", gateway.GatewayKey.as_view(), name="api-gateway-key"),
    path(
        "services/gateway/keys/<uuid:gateway_key_id>/rotate/",
        gateway.GatewayKeyRotate.as_view(),
        name="api-gateway-key-rotate",
    ),
    path(SERVICE, services.ServiceDetail.as_view(), name="api-service"),
    path(f"{SERVICE}start/", services.ServiceStart.as_view(), name="api-service-start"),
    path(f"{SERVICE}stop/", services.ServiceStop.as_view(), name="api-service-stop"),
    path(f"{SERVICE}withdraw/", services.ServiceWithdraw.as_view(), name="api-service-withdraw"),
    path(f"{SERVICE}scale/", services.ServiceScale.as_view(), name="api-service-scale"),
    path(f"{SERVICE}scaling/", scaling.ServiceScaling.as_view(), name="api-service-scaling"),
    path(f"{SERVICE}versions/", services.VersionList.as_view(), name="api-service-versions"),
    path(f"{SERVICE}deployments/", services.DeploymentList.as_view(), name="api-service-deployments"),
    path(f"{SERVICE}usage/", services.ServiceUsage.as_view(), name="api-service-usage"),
    path(f"{SERVICE}keys/", keys.KeyList.as_view(), name="api-service-keys"),
    path(f"{SERVICE}keys/<uuid:service_key_id>/", keys.KeyDetail.as_view(), name="api-service-key"),
    path(f"{SERVICE}keys/<uuid:service_key_id>/rotate/", keys.KeyRotate.as_view(), name="api-service-key-rotate"),
    path(LOG, logs.ReplicaLog.as_view(), name="api-service-log"),
    path(f"{LOG}lines/", logs.ReplicaLogLines.as_view(), name="api-service-log-lines"),
    path(f"{LOG}search/", logs.ReplicaLogSearch.as_view(), name="api-service-log-search"),
]
