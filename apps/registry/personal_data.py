"""What becomes of images when an account is deleted: shared ones stay with the organisation, others go."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.registry.distribution.deleting import delete_tag
from apps.registry.models import PUSHED, Image, ImageTag
from apps.tenants.models import User
from apps.tenants.personal_data import Fate, Line, OwnRows, PersonalData


def _lost(user: User) -> list[Line]:
    names = _names(user, shared=False)
    if not names:
        return []
    return [Line(ngettext("%(count)s image", "%(count)s images", len(names)) % {"count": len(names)}, names)]


def _kept(user: User) -> list[Line]:
    names = _names(user, shared=True)
    return [Line(_("Images that they shared with the organisation"), names)] if names else []


def _names(user: User, *, shared: bool) -> tuple[str, ...]:
    rows = Image.objects.filter(owner=user, active=True, shared=shared).order_by("name")
    return tuple(rows.values_list("name", flat=True))


def _end(actor: Actor, user: User) -> bool:
    """Delete the tags of their own repositories while these still bear their name. Raises `RegistryAway`."""
    for tag in ImageTag.objects.filter(repository__owner=user, repository__shared=False).select_related("repository"):
        manager = Actor(
            user_id=None,
            label=actor.label,
            organisation_id=tag.repository.organisation_id,
            permissions=frozenset({Permission.IMAGES_USE, Permission.IMAGES_MANAGE}),
            channel=actor.channel,
        )
        with acting(manager):
            delete_tag(manager, tag.pk)
    return True


def _erase(actor: Actor, user: User) -> None:
    for image in Image.objects.filter(owner=user, active=True, shared=False).exclude(key__startswith=PUSHED):
        Image.objects.filter(pk=image.pk).update(active=False)
        target = Target("image", str(image.pk), image.name)
        record(actor, action="image.removed", target=target, organisation_id=image.organisation_id)


DATA = PersonalData(
    links={
        # Passports name images, also those that nobody can choose any more.
        "registry.Image.owner": Fate.KEPT,
        "registry.ImageRepository.owner": Fate.KEPT,
        "registry.ImageManifest.pushed_by": Fate.KEPT,
        "registry.ImageTag.pushed_by": Fate.KEPT,
        "registry.RegistryCapacity.set_by": Fate.KEPT,
        "registry.Collection.asked_by": Fate.KEPT,
        "registry.ScanPolicy.set_by": Fate.KEPT,
        "registry.ScanException.made_by": Fate.KEPT,
        "registry.ScanException.ended_by": Fate.KEPT,
        "registry.ImageTransfer.owner": Fate.KEPT,
        "registry.ImageSaving.owner": Fate.KEPT,
        "registry.ImageSaving.cancelled_by": Fate.KEPT,
        "registry.PullSources.set_by": Fate.KEPT,
        "registry.RepositoryShare.shared_by": Fate.KEPT,
        "registry.RepositoryShare.declined_by": Fate.KEPT,
    },
    lost=_lost,
    kept=_kept,
    end=_end,
    erase=_erase,
    own=(
        OwnRows(
            "images",
            _("Images of your own"),
            "registry.Image",
            "owner",
            "name description_en reference shared created_at",
        ),
        OwnRows(
            "repositories",
            _("Repositories in the registry"),
            "registry.ImageRepository",
            "owner",
            "organisation__name name shared created_at pushed_at",
        ),
        OwnRows(
            "pulls",
            _("Images that you had pulled"),
            "registry.ImageTransfer",
            "owner",
            "organisation__name source repository_name tag platform status created_at ended_at",
        ),
        OwnRows(
            "savings",
            _("Work that you saved as images"),
            "registry.ImageSaving",
            "owner",
            "organisation__name workload__name kept__name repository_name tag note status created_at ended_at",
        ),
    ),
)
