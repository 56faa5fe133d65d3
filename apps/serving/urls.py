"""Pages of services."""

from django.urls import path

from apps.serving.views import acts, create, detail, gateway, keys, lists, scaling

app_name = "serving"
SERVICE = "<uuid:service_id>/"

urlpatterns = [
    path("", lists.service_list, name="list"),
    path("new/", create.new, name="new"),
    path("quote/", create.quote, name="quote"),
    path("of-workload/<uuid:workload_id>/", lists.of_workload, name="of_workload"),
    path("gateway/", gateway.gateway, name="gateway"),
    path("gateway/names/new/", gateway.name_new, name="gateway_name_new"),
    path("gateway/names/<uuid:model_name_id>/take-back/", gateway.name_take_back, name="gateway_name_take_back"),
    path("gateway/keys/new/", gateway.key_new, name="gateway_key_new"),
    path("gateway/keys/<uuid:gateway_key_id>/rotate/", gateway.key_rotate, name="gateway_key_rotate"),
    path("gateway/keys/<uuid:gateway_key_id>/revoke/", gateway.key_revoke, name="gateway_key_revoke"),
    path(SERVICE, detail.overview, name="detail"),
    path(f"{SERVICE}now/", detail.now, name="now"),
    path(f"{SERVICE}test/", detail.test, name="test"),
    path(f"{SERVICE}history/", detail.history, name="history"),
    path(f"{SERVICE}log/", detail.log, name="log"),
    path(f"{SERVICE}keys/", keys.key_list, name="keys"),
    path(f"{SERVICE}keys/new/", keys.new, name="key_new"),
    path(f"{SERVICE}keys/<uuid:service_key_id>/rotate/", keys.rotate, name="key_rotate"),
    path(f"{SERVICE}keys/<uuid:service_key_id>/revoke/", keys.revoke, name="key_revoke"),
    path(f"{SERVICE}update/", create.update, name="update"),
    path(f"{SERVICE}versions/<uuid:service_version_id>/", detail.version, name="version"),
    path(f"{SERVICE}versions/<uuid:service_version_id>/deploy/", acts.deploy, name="deploy"),
    path(f"{SERVICE}scale/", acts.scale, name="scale"),
    path(f"{SERVICE}scaling/", scaling.follow, name="follow"),
    path(f"{SERVICE}scaling/end/", scaling.unfollow, name="unfollow"),
    path(f"{SERVICE}stop/", acts.stop, name="stop"),
    path(f"{SERVICE}withdraw/", acts.withdraw, name="withdraw"),
    path(f"{SERVICE}settings/", acts.settings, name="settings"),
    path(f"{SERVICE}delete/", acts.delete, name="delete"),
]
