"""Who and what there is at the start: machines, packages, organisations and their people."""

import random
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import uuid4

from apps.billing import services as billing
from apps.billing.models import Package
from apps.clusters import services as clusters
from apps.clusters.models import LogicalCluster, Node, Zone, ZonePackage
from apps.clusters.simulation import CARDS
from apps.common.actor import Actor, Channel, system_actor
from apps.registry.models import Image
from apps.tenants import quotas
from apps.tenants import services as tenants
from apps.tenants.actors import organisation_actor
from apps.tenants.choices import Resource, Role
from apps.tenants.models import Organisation, User
from apps.tenants.services.guarantees import Promise, set_guarantees

PASSWORD = "correct-horse-9"  # noqa: S105  nobody signs in
ARCH = "x86_64"
# Nodes of which half the cards are on a second one.
HALVED = ("sim-a100", "sim-a30")
MOST_MEMBERS = 4
# name, milli-cores, MiB, cards, model, fen an hour
MORE = (
    ("CPU 4", 4_000, 16_384, 0, "", 40),
    ("CPU 32", 32_000, 131_072, 0, "", 300),
    ("A100 two cards", 32_000, 131_072, 2, "A100-80G", 1600),
    ("H100 four cards", 64_000, 262_144, 4, "H100", 5600),
    ("A30 two cards with CPU", 60_000, 262_144, 2, "A30", 900),
)


@dataclass(slots=True)
class Person:
    """One who works here. `vigour`: how much more than others they do."""

    user: User
    organisation: Organisation
    admin: bool
    vigour: float

    def actor(self) -> Actor:
        """With the rights of this moment."""
        return organisation_actor(self.user, self.organisation.pk)


@dataclass(slots=True)
class World:
    """By package, `weights`: how often it is chosen, and `most_members`: of a gang on it that the machines could hold.

    `budget_fen`: what one recharge of an organisation brings.
    """

    zone: Zone
    image: Image
    organisations: list[Organisation]
    people: list[Person]
    weights: dict[int, float]
    most_members: dict[int, int]
    budget_fen: dict[Organisation, int] = field(default_factory=dict)

    def nodes(self) -> list[Node]:
        return list(Node.objects.filter(cluster__zone=self.zone).order_by("name"))


def platform() -> Actor:
    return system_actor(Channel.COMMAND)


def make_world(chance: random.Random, *, people: int, organisations: int) -> World:
    """The simulated zone, billed, with packages of every kind, and people who can pay for some of it."""
    zone = clusters.add_simulated_zone(platform(), isolation="L1", isolation_reason="")
    for name in HALVED:
        _halve(Node.objects.get(name=name))
    clusters.offer_packages(platform(), zone_id=zone.pk)
    for name, cpu, memory, cards, model, fen in MORE:
        _package(zone, name, cpu, memory, fen, cards=cards, model=model)
    clusters.set_billed(platform(), zone_id=zone.pk, billed=True)
    packages = Package.objects.filter(zone_offer__zone=zone).order_by("pk")
    weights = {package.pk: _popularity(package) for package in packages}
    most = {package.pk: MOST_MEMBERS // max(1, package.gpu_count) for package in packages}
    world = _peopled(zone, chance, people, organisations, weights, most)
    _promise(world)
    return world


def _halve(node: Node) -> None:
    """Every other card of the node is on another node of its kind from now on, so that gangs can be on both."""
    there = Node.objects.get(pk=node.pk)
    there.pk, there.name, there._state.adding = uuid4(), f"{node.name}-2", True
    there.save()
    node.accelerators.filter(index__in=range(1, CARDS, 2)).update(node=there)


def make_small_world(chance: random.Random, *, people: int, machines: int = 1) -> World:
    """A new installation: machines of two cores, a package of one core, one organisation."""
    zone = Zone.objects.create(name="small", simulated=True, billed=True)
    cluster = LogicalCluster.objects.create(zone=zone, name="default")
    for number in range(machines):
        Node.objects.create(
            cluster=cluster,
            name=f"vm-{number}" if number else "vm",
            driver="simulated",
            arch=ARCH,
            isolation="L1",
            cpu_milli=2000,
            memory_mib=24_576,
        )
    package = _package(zone, "CPU small", 1000, 2048, 48)
    return _peopled(zone, chance, people, 1, {package.pk: 1.0}, {package.pk: min(MOST_MEMBERS, 2 * machines)})


def _package(
    zone: Zone, name: str, cpu_milli: int, memory_mib: int, fen: int, *, cards: int = 0, model: str = ""
) -> Package:
    spec = billing.PackageSpec(
        name_en=name,
        name_zh=name,
        cpu_milli=cpu_milli,
        memory_mib=memory_mib,
        gpu_count=cards,
        gpu_model=model,
        gpu_mode="whole" if cards else "",
        gpu_core_milli=1000 if cards else 0,
    )
    package = billing.create_package(platform(), spec=spec, rate_fen_per_hour=Decimal(fen))
    ZonePackage.objects.create(package=package, zone=zone, listed_fen_per_hour=Decimal(fen))
    return package


def _popularity(package: Package) -> float:
    """Whole cards are what most want; several of them at once few."""
    if package.gpu_count > 1:
        return 1.0
    return 3.0 if package.gpu_mode == "whole" else 1.0


def _peopled(
    zone: Zone,
    chance: random.Random,
    people: int,
    organisations: int,
    weights: dict[int, float],
    most_members: dict[int, int],
) -> World:
    image, _made = Image.objects.get_or_create(
        key="python", defaults={"name": "Python", "description_en": "", "description_zh": "", "requirements": []}
    )
    labs = [tenants.create_organisation(platform(), name=f"Lab {number}") for number in range(organisations)]
    world = World(zone, image, labs, [], weights, most_members)
    for number, lab in enumerate(labs):
        # The last one is poor: what it pays at a time lasts for hours.
        world.budget_fen[lab] = 30_000 if number and number == len(labs) - 1 else 600_000
        recharge(world, lab, f"first-{number}")
    for number in range(people):
        world.people.append(_person(chance, labs[number % len(labs)], number, admin=number < len(labs)))
    return world


def _person(chance: random.Random, lab: Organisation, number: int, *, admin: bool) -> Person:
    name = f"person-{number}"
    card = tenants.Person(username=name, email=f"{name}@example.com", name=name.title(), password=PASSWORD)
    user, _generated = tenants.create_user(platform(), person=card)
    role = Role.ADMIN if admin else Role.MEMBER
    priority = chance.choice((2, 3, 3, 3, 4, 5))
    tenants.add_member(platform(), organisation_id=lab.pk, user=user, role=role, priority=priority)
    return Person(user, lab, admin, chance.uniform(0.4, 1.6))


def recharge(world: World, lab: Organisation, reference: str) -> None:
    billing.top_up(platform(), organisation_id=lab.pk, amount_fen=world.budget_fen[lab], reference=reference, note="")


def _promise(world: World) -> None:
    """The first organisation is promised cards of one model; the second may not hold more than some."""
    first, second = world.organisations[0], world.organisations[min(1, len(world.organisations) - 1)]
    set_guarantees(platform(), organisation_id=first.pk, milli={Promise("A100-80G", simulated=True): 3000})
    quotas.set_limit(platform(), organisation_id=second.pk, resource=Resource.GPU_MILLI, limit=10_000)
