"""Pages of training."""

from django.urls import path

from apps.training.git.ssh import pages as ssh_pages
from apps.training.saved_views import pages as saved_views
from apps.training.views import (
    actions,
    caps,
    code,
    compare,
    compare_files,
    create,
    curves,
    detail,
    files,
    git,
    lists,
    metric_patterns,
    passport,
    retention,
    tags,
    times,
)

app_name = "training"

urlpatterns = [
    path("", lists.run_list, name="list"),
    path("bulk/", lists.bulk_act, name="bulk"),
    path("columns/", lists.choose_columns, name="columns"),
    path("new/", create.new, name="new"),
    path("quote/", create.quote, name="quote"),
    path("metric-patterns/", metric_patterns.try_patterns, name="try_patterns"),
    path("curves/", curves.curves, name="curves"),
    path("compare/", compare.compare, name="compare"),
    path("compare/code/", compare_files.code, name="compare_code"),
    path("compare/outputs/", compare_files.outputs, name="compare_outputs"),
    path("views/", saved_views.view_list, name="views"),
    path("views/save/", saved_views.save_view, name="save_view"),
    path("views/<uuid:view_id>/", saved_views.open_view, name="view"),
    path("views/<uuid:view_id>/edit/", saved_views.edit_view, name="edit_view"),
    path("views/<uuid:view_id>/delete/", saved_views.delete_view, name="delete_view"),
    path("code/", code.upload, name="upload"),
    path("code/git/", git.fetch, name="fetch_git"),
    path("code/git/hosts/", ssh_pages.host_list, name="git_hosts"),
    path("code/git/hosts/<uuid:host_id>/forget/", ssh_pages.forget, name="forget_git_host"),
    path("of-workload/<uuid:workload_id>/", detail.of_workload, name="of_workload"),
    path("<uuid:run_id>/", detail.detail, name="detail"),
    path("<uuid:run_id>/passport/", passport.show, name="passport"),
    path("<uuid:run_id>/sharing/", passport.share, name="share_code"),
    path("<uuid:run_id>/part/<slug:name>/", detail.part, name="part"),
    path("<uuid:run_id>/metrics/<slug:name>/", detail.metrics, name="metrics"),
    path("<uuid:run_id>/metrics.csv", curves.download, name="metrics_csv"),
    path("<uuid:run_id>/ask/<slug:name>/", actions.ask, name="ask"),
    path("<uuid:run_id>/stop/", actions.stop, name="stop"),
    path("<uuid:run_id>/archive/", retention.archive, name="archive"),
    path("<uuid:run_id>/unarchive/", retention.unarchive, name="unarchive"),
    path("<uuid:run_id>/delete/", retention.delete, name="delete"),
    path("<uuid:run_id>/cap/", caps.cap, name="cap"),
    path("<uuid:run_id>/longest/", times.longest, name="longest"),
    path("<uuid:run_id>/gpu-idle/", times.gpu_idle, name="gpu_idle"),
    path("<uuid:run_id>/tags/", tags.edit, name="tags"),
    path("<uuid:run_id>/rerun/", actions.rerun, name="rerun"),
    path("<uuid:run_id>/instead/", actions.instead, name="instead"),
    path("<uuid:run_id>/output/", files.output, name="output"),
    path("<uuid:run_id>/log/", files.log, name="log"),
]
