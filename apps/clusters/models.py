"""Where work can run. The platform's own rows: no tenant owns hardware."""

import uuid
from datetime import timedelta
from typing import ClassVar, TypeVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from apps.billing.models import Package
from apps.clusters.card_fault import CardFault as CardFault
from apps.clusters.choices import AcceleratorMode, DrainAction, Limiter, NodeStatus
from apps.clusters.cluster_checkup import ClusterCheckup as ClusterCheckup
from apps.clusters.join_token import JoinToken as JoinToken
from apps.clusters.kubernetes_cluster import KubernetesCluster as KubernetesCluster
from apps.clusters.node_quarantine import Quarantinable
from apps.clusters.zone_storage import ZoneStorage as ZoneStorage
from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation

PRESENT = Q(removed_at__isnull=True)

M = TypeVar("M", bound=models.Model, covariant=True)


class Present(models.Manager[M]):
    """Rows of present hardware. Removed hardware keeps its rows, because past runs name them."""

    # Django makes managers of relations out of this class, without arguments: so the path is the class's.
    path = "removed_at"

    def get_queryset(self) -> models.QuerySet[M]:
        return super().get_queryset().filter(**{f"{self.path}__isnull": True})


class PresentOnNode(Present[M]):
    """Rows whose node is present."""

    path = "node__removed_at"


class Zone(models.Model):
    """A data centre, or a simulated one. `billed` False: what runs there is never charged.

    `trusted_network`: nobody but the operator sends or listens on the network between its nodes, so members of a gang
    on several of them may be joined without encryption.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=60)
    simulated = models.BooleanField(default=False)
    billed = models.BooleanField(default=True)
    trusted_network = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(db_default=Now())
    removed_at = models.DateTimeField(null=True)

    everything = models.Manager()
    objects: ClassVar[Present["Zone"]] = Present()

    class Meta:
        ordering = ["name"]
        base_manager_name = "everything"
        default_manager_name = "objects"
        constraints = [models.UniqueConstraint(fields=["name"], condition=PRESENT, name="zone_name_once")]

    def __str__(self) -> str:
        return self.name


class ZonePackage(models.Model):
    """A package that is only for one zone. All others are for every zone that is not simulated."""

    package = models.OneToOneField(Package, on_delete=models.CASCADE, primary_key=True, related_name="zone_offer")
    zone = models.ForeignKey(Zone, on_delete=models.CASCADE, related_name="offers")
    # What the package costs an hour where the zone is billed, in fen.
    listed_fen_per_hour = models.DecimalField(max_digits=20, decimal_places=10)


class LogicalCluster(models.Model):
    """A named part of a zone's nodes that is scheduled as one.

    `reserved`: only organisations with a `ClusterGrant` see and use it, nobody where there is none.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    zone = models.ForeignKey(Zone, on_delete=models.PROTECT, related_name="clusters")
    name = models.CharField(max_length=60)
    reserved = models.BooleanField(default=False, db_default=False)
    removed_at = models.DateTimeField(null=True)

    everything = models.Manager()
    objects: ClassVar[Present["LogicalCluster"]] = Present()

    class Meta:
        ordering = ["zone", "name"]
        base_manager_name = "everything"
        default_manager_name = "objects"
        constraints = [
            models.UniqueConstraint(fields=["zone", "name"], condition=PRESENT, name="cluster_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class ClusterGrant(TenantModel):
    """The right of an organisation to a reserved cluster; of no effect while the cluster is open to all."""

    cluster = models.ForeignKey(LogicalCluster, on_delete=models.CASCADE, related_name="grants")
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "organisation"], name="cluster_grant_once")]


class Node(Quarantinable):
    """One machine: its capacity, what of it may be allocated, and when it was last heard from."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(LogicalCluster, on_delete=models.PROTECT, related_name="nodes")
    name = models.CharField(max_length=80)
    driver = models.CharField(max_length=20)
    arch = models.CharField(max_length=20)
    status = models.CharField(max_length=16, choices=NodeStatus, default=NodeStatus.READY)
    isolation = models.CharField(max_length=4, default="L0")
    isolation_reason = models.CharField(max_length=400, blank=True)
    cpu_milli = models.PositiveIntegerField()
    memory_mib = models.PositiveIntegerField()
    # Reserved for the operating system and the platform itself.
    reserved_cpu_milli = models.PositiveIntegerField(default=0)
    reserved_memory_mib = models.PositiveIntegerField(default=0)
    disk_mib = models.PositiveBigIntegerField(default=0)
    disk_free_mib = models.PositiveBigIntegerField(default=0)
    # How many files the disk has room for (inodes), and for how many more; 0 in all: it knows no such number.
    disk_files = models.PositiveBigIntegerField(default=0)
    disk_files_free = models.PositiveBigIntegerField(default=0)
    facts = models.JSONField(default=dict)  # operating system, CPU model, driver versions: shown, never decided on
    # Which start of the machine this is, and why faults of its cards cannot be seen (`clusters.kernel_log.Unread`).
    boot_id = models.UUIDField(null=True)
    faults_unread = models.CharField(max_length=8, blank=True, default="", db_default="")
    rdma = models.JSONField(default=list)  # its devices: `clusters.rdma.RdmaDevice`
    # What was found when its software sources were last asked, see `workloads.hardware.sources`; empty: to be asked.
    software_sources = models.JSONField(default=dict)
    # What it can do for gangs over several machines, as its agent found out: `workloads.drivers.overlay.Ability`.
    gang_network = models.JSONField(default=dict)
    # How a joined machine sees the platform's files: `clusters.node_storage.NodeStorage`; empty: it does not tell.
    storage = models.JSONField(default=dict)
    # What came of trying them (`StorageProbe`, there); its copies of datasets (`clusters.dataset_caches.NodeCache`).
    storage_probe = models.JSONField(default=dict)
    dataset_cache = models.JSONField(default=dict)
    labels = models.JSONField(default=dict)  # the operators' own notes; of some `clusters.domains` makes use
    last_seen_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now())
    removed_at = models.DateTimeField(null=True)
    # Since when it has been silent, once that was notified.
    silent_since = models.DateTimeField(null=True)
    # Since when its disk has been nearly full, and its storage lost or of no use, once that was notified.
    disk_low_since = models.DateTimeField(null=True)
    storage_lost_since = models.DateTimeField(null=True)
    # Unbroken silence while the platform listened, as of `listened_at`; `workloads.hardware.silence` counts it.
    silent_for = models.DurationField(default=timedelta(0), db_default=timedelta(0))
    listened_at = models.DateTimeField(null=True)
    # Declared lost, and by whom ("" for the platform itself), until it is back and what ran there is proved gone.
    lost_at = models.DateTimeField(null=True)
    lost_by = models.CharField(max_length=200, blank=True)
    # A simulated machine that was switched off: it sends and answers nothing.
    switched_off = models.BooleanField(default=False, db_default=False)
    # While it is draining: until when its work may stay, and what then happens to it.
    drain_until = models.DateTimeField(null=True)
    drain_action = models.CharField(max_length=8, choices=DrainAction, blank=True)
    # Of a node that joined by token: which machine it is, where its agent answers, the secret that both know, and how
    # often it has joined, each time with a new secret. Of a cluster's node: its id and its name there.
    machine_id = models.CharField(max_length=40, blank=True)
    address = models.CharField(max_length=200, blank=True)
    certificate = models.CharField(max_length=64, blank=True)  # SHA-256 of the agent's certificate, hexadecimal
    sealed_secret = models.BinaryField(null=True)
    joins = models.PositiveIntegerField(default=0)

    everything = models.Manager()
    objects: ClassVar[Present["Node"]] = Present()

    class Meta:
        ordering = ["name"]
        base_manager_name = "everything"
        default_manager_name = "objects"
        constraints = [
            models.UniqueConstraint(fields=["name"], condition=PRESENT, name="node_name_once"),
            models.CheckConstraint(
                condition=Q(status=NodeStatus.DRAINING, drain_until__isnull=False)
                | (~Q(status=NodeStatus.DRAINING) & Q(drain_until__isnull=True)),
                name="draining_has_a_deadline",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def disk_used(self) -> float:
        """The share of the disk's space or inodes that is taken, whichever is larger, in 0..1."""
        return max(_taken(self.disk_free_mib, self.disk_mib), _taken(self.disk_files_free, self.disk_files))

    @property
    def allocatable_cpu_milli(self) -> int:
        return allocatable(self.cpu_milli, self.reserved_cpu_milli)

    @property
    def allocatable_memory_mib(self) -> int:
        return allocatable(self.memory_mib, self.reserved_memory_mib)


def allocatable(total: int, reserved: int) -> int:
    """What workloads may be given of a machine's CPU or memory."""
    return max(0, total - reserved)


def _taken(free: int, total: int) -> float:
    return 1 - free / total if total else 0.0


class Accelerator(models.Model):
    """One card of a node, as the vendor's library reports it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="accelerators")
    uuid = models.CharField(max_length=80, unique=True)
    index = models.PositiveSmallIntegerField()
    vendor = models.CharField(max_length=20)
    model = models.CharField(max_length=60)
    memory_mib = models.PositiveIntegerField()
    mode = models.CharField(max_length=8, choices=AcceleratorMode, default=AcceleratorMode.WHOLE)
    healthy = models.BooleanField(default=True)
    # Why it is not, one of `clusters.cards.Trouble`; since when; and since when the operators know.
    trouble = models.CharField(max_length=8, blank=True, default="", db_default="")
    unhealthy_since = models.DateTimeField(null=True)
    trouble_told_at = models.DateTimeField(null=True)
    # What the node discovered that it may be cut into, a list of `clusters.cards.MigCut`; null: nobody could look.
    mig_profiles = models.JSONField(null=True)
    limiter = models.CharField(max_length=10, choices=Limiter, blank=True, default=Limiter.NONE)
    # What sharing may hand out in all, in thousandths of the card: more than 1000 oversubscribes it.
    share_milli = models.PositiveIntegerField(default=1000)
    # The compute partition that an AMD card is in, as its kernel driver says.
    partition = models.CharField(max_length=8, blank=True)
    # Where it is: its PCI address and NUMA node, and how it is connected to the node's other cards, by their uuids.
    pci = models.CharField(max_length=20, blank=True, default="", db_default="")
    numa = models.SmallIntegerField(null=True)
    links = models.JSONField(default=dict)
    last_seen_at = models.DateTimeField(db_default=Now())
    # The newest measurement; null where the card does not tell.
    utilisation_pct = models.FloatField(null=True)
    memory_used_mib = models.PositiveIntegerField(null=True)
    temperature_c = models.SmallIntegerField(null=True)
    power_w = models.FloatField(null=True)

    everything = models.Manager()
    objects: ClassVar[PresentOnNode["Accelerator"]] = PresentOnNode()

    class Meta:
        ordering = ["node", "index"]
        base_manager_name = "everything"
        default_manager_name = "objects"

    @property
    def keeps_its_limits(self) -> bool:
        """Whether the limits of its slices are still enforced: a vGPU card needs a limiter."""
        return self.mode != AcceleratorMode.VGPU or bool(self.limiter)


class NodeSample(models.Model):
    """One measurement of a machine's load, for charts; of its cards the mean, null without any or where none tells."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="samples")
    at = models.DateTimeField(db_default=Now())
    cpu_pct = models.FloatField()
    memory_used_mib = models.PositiveIntegerField()
    disk_used_pct = models.FloatField()
    gpu_pct = models.FloatField(null=True)
    gpu_memory_pct = models.FloatField(null=True)

    class Meta:
        indexes = [models.Index(fields=["node", "-at"], name="sample_newest")]


class Stray(models.Model):
    """Work that a machine reports and no attempt accounts for. It is stopped once an operator has said so."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="strays")
    ref = models.UUIDField()
    first_seen_at = models.DateTimeField(db_default=Now())
    last_seen_at = models.DateTimeField(db_default=Now())
    confirmed_by = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["node", "ref"], name="stray_once")]
