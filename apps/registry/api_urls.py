"""The API of what was pushed to the registry or pulled into it, and of scans."""

from django.urls import path

from apps.registry.distribution import api
from apps.registry.saving import api as savings
from apps.registry.scanning import urls as scanning
from apps.registry.sharing import urls as sharing
from apps.registry.transfers import api as transfers

ONE = "images/repositories/<uuid:repository_id>/"

urlpatterns = [
    *scanning.endpoints,
    *sharing.endpoints,
    path("images/capacity/", api.OrganisationRegistry.as_view(), name="api-registry-capacity"),
    path("images/pulls/", transfers.Pulls.as_view(), name="api-image-pulls"),
    path("images/pulls/<uuid:pull_id>/", transfers.PullDetail.as_view(), name="api-image-pull"),
    path("images/uploads/", transfers.Uploads.as_view(), name="api-image-uploads"),
    path("images/pulls/<uuid:pull_id>/choose/", transfers.PullChoice.as_view(), name="api-image-pull-choose"),
    path("images/pulls/<uuid:pull_id>/cancel/", transfers.PullCancel.as_view(), name="api-image-pull-cancel"),
    path("images/savings/", savings.Savings.as_view(), name="api-image-savings"),
    path("images/savings/kept/", savings.KeptImages.as_view(), name="api-kept-images"),
    path("images/savings/kept/<uuid:image_id>/", savings.KeptImage.as_view(), name="api-kept-image"),
    path("images/savings/<uuid:saving_id>/", savings.SavingDetail.as_view(), name="api-image-saving"),
    path("images/savings/<uuid:saving_id>/cancel/", savings.SavingCancel.as_view(), name="api-image-saving-cancel"),
    path("images/repositories/", api.Repositories.as_view(), name="api-repositories"),
    path(ONE, api.RepositoryDetail.as_view(), name="api-repository"),
    path(f"{ONE}tags/", api.RepositoryTags.as_view(), name="api-repository-tags"),
    path(f"{ONE}tags/<str:tag>/", api.RepositoryTag.as_view(), name="api-repository-tag"),
    path(f"{ONE}tags/<str:tag>/file/", api.RepositoryTagFile.as_view(), name="api-repository-tag-file"),
    path(f"{ONE}versions/", api.RepositoryVersions.as_view(), name="api-repository-versions"),
    path(f"{ONE}versions/<str:digest>/", api.RepositoryVersion.as_view(), name="api-repository-version"),
    path(f"{ONE}uses/", api.RepositoryUses.as_view(), name="api-repository-uses"),
]
