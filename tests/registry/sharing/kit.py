"""A laboratory that shares a repository, one that may receive it, and a third that has nothing to do with it."""

from dataclasses import dataclass
from datetime import date

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.registry.distribution import offering
from apps.registry.models import ImageManifest, ImageRepository, ImageTag, ManifestBlob, RepositoryShare
from apps.registry.sharing import services
from apps.registry.sharing.services import NewShare
from apps.registry.sharing.settings import SharingSettings
from apps.tenants import settings
from apps.tenants.choices import Role
from apps.tenants.models import Organisation, User
from apps.workloads.references import Reference
from tests.builders import World, actor_of, make_member, make_organisation, make_world, platform

DIGEST = "sha256:" + "a" * 64
LAYER = "sha256:" + "b" * 64
HOST = "hub.lab"


@dataclass(frozen=True, slots=True)
class Labs:
    """`world`: the owning organisation with Alice, who owns the repository. Rita manages the other's images, Rob uses
    them. Tom is of the third.
    """

    world: World
    admin: User
    colleague: User
    other: Organisation
    rita: User
    rob: User
    third: Organisation
    tom: User

    @property
    def alice(self) -> Actor:
        return self.world.actor

    def of(self, user: User) -> Actor:
        """As the person acts now: read anew, with what their organisation's state allows."""
        homes = {self.rita.pk: self.other, self.rob.pk: self.other, self.tom.pk: self.third}
        return actor_of(user, homes.get(user.pk, self.world.organisation))

    def share(self, repository: ImageRepository, note: str = "", until: date | None = None) -> RepositoryShare:
        with acting(self.alice):
            return services.share(self.alice, repository.pk, NewShare(self.other.slug, note, until))

    def take_back(self, share: RepositoryShare) -> None:
        with acting(self.alice):
            services.take_back(self.alice, share.repository_id, share.pk)


def allow(*, allowed: bool = True) -> None:
    with acting(platform()) as actor:
        settings.put(actor, SharingSettings(allowed=allowed))


def make_labs() -> Labs:
    """With sharing allowed. Call it as the platform."""
    world, other, third = make_world(), make_organisation(), make_organisation()
    allow()
    return Labs(
        world=world,
        admin=make_member(world.organisation, "erin", Role.ADMIN),
        colleague=make_member(world.organisation, "bob"),
        other=other,
        rita=make_member(other, "rita", Role.ADMIN),
        rob=make_member(other, "rob"),
        third=third,
        tom=make_member(third, "tom", Role.ADMIN),
    )


def keep(world: World, name: str = "torch", *, owned: bool = True, digest: str = DIGEST) -> ImageTag:
    """A repository with one tag, as if it had been pushed. Call it as the platform."""
    person = f"{world.alice.username.lower()}/" if owned else ""
    row = ImageRepository.objects.create(
        organisation=world.organisation,
        owner=world.alice if owned else None,
        name=f"{world.organisation.slug}/{person}{name}",
    )
    made = {"organisation": world.organisation}
    manifest = ImageManifest.objects.create(
        **made, repository=row, digest=digest, media_type="", size=5000, platform="linux/amd64", pushed_by=world.alice
    )
    ManifestBlob.objects.create(**made, manifest=manifest, position=0, digest=LAYER, size=5000)
    tag = ImageTag.objects.create(**made, repository=row, manifest=manifest, name="1", pushed_by=world.alice)
    offering.offer(tag)
    return tag


def reference(tag: ImageTag) -> Reference:
    return Reference(f"{HOST}/{tag.repository.name}", tag.manifest.digest)
