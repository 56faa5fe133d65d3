"""Searches on tables: what was asked. What became of one, its runs say."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.storage.models import DatasetVersion
from apps.tabular.choices import Metric, Task
from apps.tenants.models import Organisation, User


class TableSearch(TenantModel):
    """`family`: that of its runs, the first of which it started; a later one goes on from the one before it.

    `version` is None once the dataset is gone; its name and number stay. `settings`: what else the program is told, as
    `apps.tabular.wanted.NewSearch.told` writes it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    family = models.UUIDField(unique=True)
    version = models.ForeignKey(DatasetVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    dataset_name = models.CharField(max_length=60)
    dataset_number = models.PositiveIntegerField()
    path = models.TextField()
    target = models.CharField(max_length=200)
    task = models.CharField(max_length=14, choices=Task)
    metric = models.CharField(max_length=20, choices=Metric)
    settings = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["organisation", "-created_at"], name="table_search_newest")]
        constraints = [
            models.CheckConstraint(condition=models.Q(task__in=sorted(Task)), name="table_search_task_known"),
            models.CheckConstraint(condition=models.Q(metric__in=sorted(Metric)), name="table_search_metric_known"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset_name} v{self.dataset_number}: {self.target}"
