"""Asking for an image from an address or of an archive, cancelling that, and from where an organisation may pull."""

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.common.sealing import seal
from apps.registry.choices import OPEN_TRANSFERS, TransferKind, TransferStatus
from apps.registry.distribution.capacity import Capacity, OverCapacity, capacity_of
from apps.registry.distribution.client import RegistryAway, is_configured
from apps.registry.distribution.placing import place, require_tag
from apps.registry.distribution.ruled import set_own
from apps.registry.models import ImageTransfer, PullSources
from apps.registry.transfers import sources, states, working
from apps.registry.transfers.addresses import Address
from apps.registry.transfers.planning import MIB
from apps.registry.transfers.reading import login_purpose
from apps.registry.transfers.selectors import transfer_of
from apps.registry.transfers.working import Event
from apps.storage import services as storage
from apps.storage.models import FolderKind

MOST_OPEN, MOST_ARCHIVES = 20, 5  # of a person
PLATFORMS = ("linux/amd64", "linux/arm64")
LONGEST_LOGIN = 4096


@dataclass(frozen=True, slots=True)
class NewPull:
    """What a person fills in. `name` and `tag`: as at the address where they are empty. `platform`: "" for all."""

    address: str
    name: str = ""
    tag: str = ""
    of_organisation: bool = False
    platform: str = ""
    username: str = ""
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class NewArchive:
    """Where an archive's image goes, said before it is uploaded. `platform`: "" for all."""

    name: str
    tag: str = ""
    of_organisation: bool = False
    platform: str = ""


def pull(actor: Actor, new: NewPull) -> ImageTransfer:
    """Queue it; it begins within seconds. Raises `Invalid` beside the fields, `Denied`, `Conflict`, `OverCapacity`."""
    actor.require(Permission.IMAGES_USE)
    if not is_configured():
        raise RegistryAway
    address = Address.parse(new.address)
    name = place(actor, new.name.strip() or address.last_name, of_organisation=new.of_organisation)
    tag = require_tag(new.tag.strip() or address.tag or "latest")
    _require_platform(new.platform)
    login = _login(new)
    sources.require_allowed(actor.organisation(), address)
    _require_reachable(actor, address)
    _require_room(actor)
    pk = uuid4()
    transfer = ImageTransfer(
        pk=pk,
        organisation_id=actor.organisation(),
        owner_id=actor.person(),
        source=address.text,
        repository_name=name.text,
        tag=tag,
        platform=new.platform,
        credential=seal(login.encode(), purpose=login_purpose(pk)) if login else None,
    )
    _keep(actor, transfer)
    transfer.refresh_from_db()
    return transfer


def upload(actor: Actor, new: NewArchive) -> ImageTransfer:
    """A folder for an archive: once one file is complete in it, that one's image is brought into the registry.

    Raises `Invalid` beside the fields, `Denied`, `Conflict`, `OverCapacity`.
    """
    actor.require(Permission.IMAGES_USE)
    actor.require(Permission.STORAGE_USE)  # it is uploaded as any file
    if not is_configured():
        raise RegistryAway
    name = place(actor, new.name.strip(), of_organisation=new.of_organisation)
    tag = require_tag(new.tag.strip() or "latest")
    _require_platform(new.platform)
    capacity = _require_room(actor)
    with storage.new_folders() as made:
        # What the organisation may keep at all is more than enough for what it adds.
        size_mib = min(settings.IMAGE_PULL_RULES.most_mib, -(-capacity.limit // MIB))
        made.append(storage.create_folder(actor, kind=FolderKind.ARCHIVE, size_mib=size_mib))
        transfer = ImageTransfer(
            organisation_id=actor.organisation(),
            owner_id=actor.person(),
            kind=TransferKind.ARCHIVE,
            status=TransferStatus.UPLOADING,
            archive=made[0],
            repository_name=name.text,
            tag=tag,
            platform=new.platform,
        )
        _keep(actor, transfer)
    transfer.refresh_from_db()
    return transfer


def choose(actor: Actor, transfer_id: UUID, image: str) -> ImageTransfer:
    """Say which of an archive's images is meant. Raises `NotFound`, `Invalid` (field `image`), `Conflict`."""
    actor.require(Permission.IMAGES_USE)
    transfer = transfer_of(actor, transfer_id)
    if transfer.status == TransferStatus.CHOOSING and image not in transfer.offered:
        raise Invalid.field("image", _("Choose one of the images that the archive has."))
    with transaction.atomic():
        if not states.choose(transfer, image):
            raise Conflict(_("Nothing is to be chosen here now."))
        working.note(actor, transfer, Event.CHOSEN, {"image": image})
    transfer.refresh_from_db()
    return transfer


def cancel(actor: Actor, transfer_id: UUID) -> ImageTransfer:
    """Its process stops within a second or so. Raises `NotFound`, and `Conflict` once its tag is being set."""
    actor.require(Permission.IMAGES_USE)
    transfer = transfer_of(actor, transfer_id)
    with transaction.atomic():
        if not states.stop(transfer):
            raise Conflict(_("It has ended already, or its tag is just being set."))
        working.note(actor, transfer, Event.CANCELLED)
    transfer.refresh_from_db()
    return transfer


def set_sources(actor: Actor, *, organisation_id: UUID, hosts: str | None) -> list[str]:
    """From which registries an organisation may pull from now on; None: as the installation's setting says.

    Raises `Invalid`, `NotFound`.
    """
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    wanted = None if hosts is None else sources.read_hosts(hosts)
    set_own(actor, PullSources, organisation_id, "hosts", wanted, action="registry.sources_set", shown="hosts")
    return sources.hosts_of(organisation_id)


def _require_platform(platform: str) -> None:
    if platform not in ("", *PLATFORMS):
        raise Invalid.field("platform", _("Choose one of the platforms on offer."))


def _require_room(actor: Actor) -> Capacity:
    """Any at all: how much it takes is known later, and reserved then."""
    capacity = capacity_of(actor.organisation())
    if not capacity.left:
        raise OverCapacity(capacity)
    return capacity


def _login(new: NewPull) -> str:
    """ "user:password", or "" where none was given."""
    if not new.username and not new.password:
        return ""
    if not new.username or ":" in new.username:
        raise Invalid.field("username", _("Give the user name that belongs to the password; it has no colon."))
    if not new.password:
        raise Invalid.field("password", _("Give the password or token that belongs to the user name."))
    login = f"{new.username}:{new.password}"
    if len(login) > LONGEST_LOGIN:
        raise Invalid.field("password", _("These are more than 4096 characters."))
    return login


def _require_reachable(actor: Actor, address: Address) -> None:
    """That its name leads to where the platform connects: said at once, beside the field."""
    plain = address.api_host in settings.IMAGE_PULL_RULES.plain_http
    ports = sources.ports_of(address, sources.hosts_of(actor.organisation()))
    port = address.api_host.partition(":")[2]
    if port and int(port) not in ports:
        words = _("A port is asked only where the platform's administrators list the registry with it: %(host)s.")
        raise Invalid.field("address", words % {"host": address.api_host})
    host = address.api_host.partition(":")[0]
    try:
        sources.way_to("http" if plain else "https", host, int(port) if port else None, ports)
    except Invalid as error:
        raise Invalid.field("address", error.message, hint=error.hint) from error


def _keep(actor: Actor, transfer: ImageTransfer) -> None:
    mine = ImageTransfer.objects.filter(owner_id=actor.person(), status__in=sorted(OPEN_TRANSFERS))
    archives = mine.filter(kind=TransferKind.ARCHIVE)
    if mine.count() >= MOST_OPEN or (transfer.is_of_archive and archives.count() >= MOST_ARCHIVES):
        raise Conflict(_("Too many of your images are on their way already."), hint=_("Wait until some are here."))
    try:
        with transaction.atomic():
            transfer.save(force_insert=True)
            working.note(actor, transfer, Event.ASKED)
    except IntegrityError as error:
        message = _("Another image is on its way to this name and tag.")
        raise Conflict(message, fields={"tag": message}) from error
