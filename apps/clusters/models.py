"""Where work can run. The platform's own rows: no tenant owns hardware."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.clusters.choices import AcceleratorMode, NodeStatus


class Zone(models.Model):
    """A data centre."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=60, unique=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name


class LogicalCluster(models.Model):
    """A named part of a zone's nodes that is scheduled as one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    zone = models.ForeignKey(Zone, on_delete=models.PROTECT, related_name="clusters")
    name = models.CharField(max_length=60)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["zone", "name"], name="cluster_name_once")]

    def __str__(self) -> str:
        return self.name


class Node(models.Model):
    """One machine: what it has, what of it may be given out, and when it was last heard from."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(LogicalCluster, on_delete=models.PROTECT, related_name="nodes")
    name = models.CharField(max_length=80, unique=True)
    driver = models.CharField(max_length=20)
    arch = models.CharField(max_length=20)
    status = models.CharField(max_length=16, choices=NodeStatus, default=NodeStatus.READY)
    isolation = models.CharField(max_length=4, default="L0")
    isolation_reason = models.CharField(max_length=400, blank=True)
    cpu_milli = models.PositiveIntegerField()
    memory_mib = models.PositiveIntegerField()
    # Kept back for the operating system and the platform itself.
    reserved_cpu_milli = models.PositiveIntegerField(default=0)
    reserved_memory_mib = models.PositiveIntegerField(default=0)
    disk_mib = models.PositiveBigIntegerField(default=0)
    disk_free_mib = models.PositiveBigIntegerField(default=0)
    facts = models.JSONField(default=dict)  # operating system, CPU model, driver versions: shown, never decided on
    last_seen_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def allocatable_cpu_milli(self) -> int:
        return max(0, self.cpu_milli - self.reserved_cpu_milli)

    @property
    def allocatable_memory_mib(self) -> int:
        return max(0, self.memory_mib - self.reserved_memory_mib)


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
    last_seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["node", "index"]


class NodeSample(models.Model):
    """One measurement of a machine's load, for the node page's charts."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="samples")
    at = models.DateTimeField(db_default=Now())
    cpu_pct = models.FloatField()
    memory_used_mib = models.PositiveIntegerField()
    disk_used_pct = models.FloatField()

    class Meta:
        indexes = [models.Index(fields=["node", "-at"], name="sample_newest")]
