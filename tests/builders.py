"""Small worlds for tests, made by the services that production uses.

Alice owns, Bob is a colleague, Charlie is a stranger: names as in most tests.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client

from apps.billing import selectors as funds
from apps.billing import services as billing
from apps.billing.choices import AccountKind
from apps.billing.ledger.services import platform_account
from apps.billing.models import Account, Package
from apps.clusters.models import LogicalCluster, Node, Zone
from apps.common.actor import Actor, Channel, system_actor
from apps.common.clock import db_now
from apps.registry.models import Image
from apps.tenants import services as tenants
from apps.tenants.actors import organisation_actor, platform_actor
from apps.tenants.choices import PlatformRole, Role
from apps.tenants.models import Organisation, PlatformSetting, User
from apps.training.choices import KIND as TRAINING
from apps.workloads import services as workloads
from apps.workloads.choices import Kind
from apps.workloads.models import Workload
from apps.workloads.spec import Image as SpecImage
from apps.workloads.spec import Spec
from tests.moulds import Build, Built, Mould, Written, mould

PASSWORD = "correct-horse-9"
_serial = count(1)
_moulds: dict[Hashable, Mould] = {}


def platform() -> Actor:
    """The platform itself, as its commands act."""
    return system_actor(Channel.COMMAND)


def unique(prefix: str) -> str:
    return f"{prefix}-{next(_serial)}-{uuid4().hex[:6]}"


def make_organisation(name: str = "", balance_fen: int = 100_000) -> Organisation:
    """An active organisation with money in its wallet."""
    texts = str(uuid4()), unique("Lab"), unique("lab"), unique("slip")
    if balance_fen and not name and _pour(("organisation", balance_fen), _organisation(balance_fen), texts) is not None:
        return Organisation.objects.get(pk=texts[0])
    organisation = tenants.create_organisation(platform(), name=name or unique("Lab"))
    if balance_fen:
        top_up(organisation, balance_fen)
    return organisation


def _organisation(balance_fen: int) -> Build:
    def build(written: Written) -> Built | None:
        if Account.objects.filter(organisation=None).exists():
            return None  # its number would be one like many others
        name, reference = unique("Lab"), unique("slip")
        with written:
            organisation = tenants.create_organisation(platform(), name=name, slug=name.lower())
            billing.top_up(
                platform(), organisation_id=organisation.pk, amount_fen=balance_fen, reference=reference, note=""
            )
        clearing = platform_account(AccountKind.OFFLINE_CLEARING).pk
        known = {clearing: "SELECT id FROM billing_account WHERE organisation_id IS NULL AND kind = 'offline_clearing'"}
        return Built((str(organisation.pk), name, organisation.slug, reference), known=known)

    return build


def top_up(organisation: Organisation, amount_fen: int) -> None:
    billing.top_up(
        platform(), organisation_id=organisation.pk, amount_fen=amount_fen, reference=unique("slip"), note=""
    )


def make_user(name: str = "alice") -> User:
    username = unique(name)
    person = tenants.Person(username=username, email=f"{username}@example.com", name=name.title(), password=PASSWORD)
    return tenants.create_user(platform(), person=person)[0]


def make_member(organisation: Organisation, name: str = "alice", role: Role = Role.MEMBER, priority: int = 3) -> User:
    user = make_user(name)
    tenants.add_member(platform(), organisation_id=organisation.pk, user=user, role=role, priority=priority)
    return user


def make_staff(role: PlatformRole = PlatformRole.SUPER, name: str = "staff") -> User:
    def build(written: Written) -> Built:
        with written:
            user = _make_staff(role, name)
        return Built((user.username,), (user.pk,))

    poured = _pour(("staff", role, name), build, (unique(name),))
    return User.objects.get(pk=poured[0]) if poured else _make_staff(role, name)


def _make_staff(role: PlatformRole, name: str) -> User:
    user = make_user(name)
    tenants.assign_platform_role(platform(), user=user, role=role)
    return user


def actor_of(user: User, organisation: Organisation | None = None) -> Actor:
    """The person as they act in the portal."""
    return organisation_actor(user, organisation.pk if organisation else None)


def staff_actor(user: User) -> Actor:
    """The person as they act in the console."""
    return platform_actor(user)


def signed_in(user: User) -> Client:
    """As `Client.force_login`, but the session is written once, as it comes to be."""
    client, session = Client(), SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "allauth.account.auth_backends.AuthenticationBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)
    return client


def make_node(cpu_milli: int = 4000, memory_mib: int = 8192, name: str = "", isolation: str = "L1") -> Node:
    zone, _made = Zone.objects.get_or_create(name="local")
    cluster, _made = LogicalCluster.objects.get_or_create(zone=zone, name="default")
    return Node.objects.create(
        cluster=cluster,
        name=name or unique("node"),
        driver="local",
        arch="x86_64",
        isolation=isolation,
        cpu_milli=cpu_milli,
        memory_mib=memory_mib,
    )


def make_package(rate_fen: str | int = 360, cpu_milli: int = 1000, memory_mib: int = 512) -> Package:
    """A package without a GPU; 360 fen an hour are exactly 0.1 fen a second."""

    def build(written: Written) -> Built:
        name = unique("Package")
        with written:
            package = _make_package(name, rate_fen, cpu_milli, memory_mib)
        return Built((name,), (package.pk,))

    name = unique("Package")
    poured = _pour(("package", rate_fen, cpu_milli, memory_mib), build, (name,))
    return Package.objects.get(pk=poured[0]) if poured else _make_package(name, rate_fen, cpu_milli, memory_mib)


def _make_package(name: str, rate_fen: str | int, cpu_milli: int, memory_mib: int) -> Package:
    spec = billing.PackageSpec(name_en=name, name_zh=name, cpu_milli=cpu_milli, memory_mib=memory_mib)
    return billing.create_package(platform(), spec=spec, rate_fen_per_hour=Decimal(rate_fen))


def make_image(key: str = "python", requirements: tuple[str, ...] = ()) -> Image:
    image, _made = Image.objects.get_or_create(
        key=key,
        defaults={
            "name": key,
            "description_en": key,
            "description_zh": key,
            "requirements": list(requirements),
        },
    )
    return image


@dataclass(frozen=True, slots=True)
class World:
    """One organisation with Alice in it, a node, a package and an image."""

    organisation: Organisation
    alice: User
    actor: Actor
    node: Node
    package: Package
    image: Image


def make_world(balance_fen: int = 100_000, role: Role = Role.MEMBER, rate_fen: str | int = 360) -> World:
    organisation = make_organisation(balance_fen=balance_fen)
    alice = _make_alice(organisation, role)
    return World(
        organisation=organisation,
        alice=alice,
        actor=actor_of(alice, organisation),
        node=make_node(),
        package=make_package(rate_fen),
        image=make_image(),
    )


def _make_alice(organisation: Organisation, role: Role) -> User:
    """A member of an organisation that has nobody yet."""

    def build(written: Written) -> Built:
        recorded = tenants.create_organisation(platform(), name=unique("Lab"))
        with written:
            alice = make_member(recorded, "alice", role)
        return Built((str(recorded.pk), alice.username), (alice.pk,))

    poured = _pour(("alice", role), build, (str(organisation.pk), unique("alice")))
    return User.objects.get(pk=poured[0]) if poured else make_member(organisation, "alice", role)


def _pour(key: Hashable, build: Build, texts: tuple[str, ...]) -> tuple[Any, ...] | None:
    """The ids of what is written under these words; None where it would not be what the services write."""
    if PlatformSetting.objects.exists():
        return None
    if key not in _moulds and (made := mould(build)):
        _moulds[key] = made
    return _moulds[key].pour(*texts) if key in _moulds else None


def submit_workload(
    world: World,
    actor: Actor | None = None,
    argv: tuple[str, ...] = ("true",),
    key: str = "",
    kind: Kind = TRAINING,
    priority: int | None = None,
    **changes: Any,
) -> Workload:
    """A queued workload on the world's package, its spec with `changes`; call inside `acting(actor)`."""
    actor = actor or world.actor
    quote = funds.quote(actor, package_id=world.package.pk)
    runtime = SpecImage(world.image.key, tuple(world.image.requirements))
    submission = workloads.Submission(
        kind=kind,
        name="run",
        spec=Spec(
            argv=argv,
            cpu_milli=world.package.cpu_milli,
            memory_mib=world.package.memory_mib,
            **{"image": runtime, "workdir": "/workspace", **changes},
        ),
        package_id=world.package.pk,
        price_version_id=quote.price_version_id,
        key=key or uuid4().hex,
        id=uuid4(),
        priority=priority,
    )
    return workloads.submit(actor, submission)


def reload(workload: Workload) -> Workload:
    workload.refresh_from_db()
    return workload


def unknown_id() -> UUID:
    return uuid4()


def make_charged(
    organisation: Organisation,
    user: User,
    package: Package,
    seconds: float = 600,
    *,
    label: str = "digits",
    ago: timedelta = timedelta(hours=2),
    tags: tuple[str, ...] = (),
) -> UUID:
    """A run that was metered for so many seconds, ended and was charged; its workload's id. Call inside `acting`.

    It began with an hour, since charges are cut at hours: a test must not depend on the minute it is run at.
    """
    price = funds.current_price(package.pk)
    assert price is not None
    began = (db_now() - ago).replace(minute=0, second=0, microsecond=0)
    session_id, workload_id = uuid4(), uuid4()
    billing.open_meter(
        session_id=session_id,
        organisation_id=organisation.pk,
        user_id=user.pk,
        workload_id=workload_id,
        label=label,
        price_version_id=price.pk,
        at=began,
        tags=tags,
    )
    billing.close_meter(session_id=session_id, at=began + timedelta(seconds=seconds))
    billing.rate_organisation(platform(), organisation_id=organisation.pk, until=db_now())
    return workload_id
