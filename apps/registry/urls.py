"""Pages of images."""

from django.urls import path

from apps.registry import views
from apps.registry.distribution import pages
from apps.registry.recipes import pages as recipes
from apps.registry.saving import pages as savings
from apps.registry.scanning import urls as scanning
from apps.registry.sharing import urls as sharing
from apps.registry.transfers import pages as transfers

app_name = "registry"

urlpatterns = [
    path("", views.image_list, name="list"),
    path("recipes/<slug:key>/", recipes.recipe, name="recipe"),
    path("pulls/", transfers.pull_list, name="pulls"),
    path("uploads/new/", transfers.new_upload, name="new_upload"),
    path("pulls/new/", transfers.new, name="new_pull"),
    path("pulls/<uuid:pull_id>/", transfers.pull, name="pull"),
    path("pulls/<uuid:pull_id>/now/", transfers.now, name="pull_now"),
    path("pulls/<uuid:pull_id>/choose/", transfers.choose, name="choose_image"),
    path("pulls/<uuid:pull_id>/cancel/", transfers.cancel, name="cancel_pull"),
    path("savings/", savings.saving_list, name="savings"),
    path("savings/all/", savings.send_all, name="send_all"),
    path("savings/<uuid:saving_id>/cancel/", savings.cancel, name="cancel_saving"),
    path("repositories/", pages.repository_list, name="repositories"),
    path("repositories/<uuid:repository_id>/", pages.repository, name="repository"),
    path("repositories/<uuid:repository_id>/share/", pages.share_repository, name="share_repository"),
    path("repositories/<uuid:repository_id>/delete/", pages.delete_repository, name="delete_repository"),
    path(
        "repositories/<uuid:repository_id>/versions/<str:digest>/delete/", pages.delete_version, name="delete_version"
    ),
    path("tags/<uuid:tag_id>/download/", pages.download_tag, name="download_tag"),
    path("tags/<uuid:tag_id>/delete/", pages.delete_tag, name="delete_tag"),
    *scanning.routes,
    *sharing.routes,
    path("<uuid:image_id>/", views.detail, name="detail"),
    path("<uuid:image_id>/registry/", savings.send, name="send"),
    path("<uuid:image_id>/share/", views.share, name="share"),
    path("<uuid:image_id>/remove/", views.remove, name="remove"),
]
