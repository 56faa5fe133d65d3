"""Pages of development environments."""

from django.urls import path

from apps.envs.views import actions, create, detail, images, lists, settings

app_name = "envs"

urlpatterns = [
    path("", lists.environment_list, name="list"),
    path("bulk/", lists.bulk_act, name="bulk"),
    path("new/", create.new, name="new"),
    path("quote/", create.quote, name="quote"),
    path("of-workload/<uuid:workload_id>/", detail.of_workload, name="of_workload"),
    path("<uuid:environment_id>/", detail.detail, name="detail"),
    path("<uuid:environment_id>/part/<slug:name>/", detail.part, name="part"),
    path("<uuid:environment_id>/metrics/<slug:name>/", detail.metrics, name="metrics"),
    path("<uuid:environment_id>/open/<slug:port>/", detail.enter, name="open"),
    path("<uuid:environment_id>/settings/", settings.change, name="change"),
    path("<uuid:environment_id>/image/", images.save_image, name="save_image"),
    path("<uuid:environment_id>/ask/<slug:name>/", actions.ask, name="ask"),
    path("<uuid:environment_id>/do/<slug:name>/", actions.act, name="act"),
]
