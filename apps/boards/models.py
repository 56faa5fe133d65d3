"""Boards: what somebody opened TensorBoard on; the kernel's Workload records what became of it."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.tenants.models import Organisation, User
from apps.training.models import Run
from apps.workloads.models import Workload


class Board(TenantModel):
    """One TensorBoard of its owner's. `selection`: the digest of its runs, whatever their order.

    `number`: how many times its owner has opened it on them, from 1 on; so two tabs open one, not two.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    workload = models.OneToOneField(Workload, on_delete=models.PROTECT, related_name="board")
    selection = models.CharField(max_length=64)
    number = models.PositiveIntegerField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["organisation", "-created_at"], name="board_newest")]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "owner", "selection", "number"], name="board_opened_once")
        ]

    def __str__(self) -> str:
        return self.workload.name


class BoardRun(TenantModel):
    """A run whose output the board shows. `label`: what TensorBoard calls it, the name of its folder inside."""

    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="shown")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    label = models.CharField(max_length=80)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["board", "run"], name="board_run_once"),
            models.UniqueConstraint(fields=["board", "label"], name="board_label_once"),
        ]

    def __str__(self) -> str:
        return self.label
