"""Models of work that is saved as an image and put into the registry."""

import uuid

from django.db import models
from django.db.models.functions import Now

from apps.common.scoping import TenantModel
from apps.registry.choices import OPEN_SAVINGS, SavingProblem, SavingStatus
from apps.registry.repositories import MAX_TAG
from apps.tenants.models import Organisation, User
from apps.workloads.models import Attempt, Workload
from apps.workloads.references import MAX_REPOSITORY

MAX_NOTE = 200


class ImageSaving(TenantModel):
    """What ran in `attempt`, as an image on its way to `repository_name`:`tag`. `status` is written by `states` alone.

    Or `kept`, an image that its machine keeps since there was no registry; then nothing has to be saved any more.

    `is_new`: the repository was not there when it was asked for. `image`: what the machine saved, by the repository of
    its base, and keeps while this is open. `said`: what the machine last said of sending it, and `fraction` of it done;
    once it has failed, why. `added_bytes`: what the organisation does not keep yet, reserved while this is open.

    `waits_since`: since when the registry or the machine cannot be reached. `cancelled_by`: who wants it no more, while
    it is being ended. `begun`: something of it was sent, or may have been.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, null=True, related_name="image_savings")
    attempt = models.ForeignKey(Attempt, on_delete=models.PROTECT, null=True, related_name="+")
    kept = models.ForeignKey("registry.Image", on_delete=models.PROTECT, null=True, related_name="+")
    submit_key = models.CharField(max_length=64)
    note = models.CharField(max_length=MAX_NOTE, blank=True)
    repository_name = models.CharField(max_length=200)
    is_new = models.BooleanField()
    tag = models.CharField(max_length=MAX_TAG)
    image = models.CharField(max_length=MAX_REPOSITORY + 72, blank=True, default="", db_default="")
    status = models.CharField(max_length=9, choices=SavingStatus, default=SavingStatus.QUEUED)
    problem = models.CharField(max_length=20, choices=SavingProblem, blank=True, default="", db_default="")
    problem_params = models.JSONField(default=dict)
    said = models.JSONField(null=True)
    fraction = models.FloatField(null=True)
    added_bytes = models.BigIntegerField(default=0)
    begun = models.BooleanField(default=False)
    cancelled_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    waits_since = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    fence = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["organisation", "-created_at"], name="image_saving_newest"),
            models.Index(fields=["repository_name", "tag"], name="image_saving_to"),
            models.Index(
                fields=["due_at"], name="image_saving_due", condition=models.Q(status__in=sorted(OPEN_SAVINGS))
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=sorted(SavingStatus)), name="image_saving_status_known"
            ),
            models.UniqueConstraint(
                fields=["workload"],
                condition=models.Q(status__in=sorted(OPEN_SAVINGS)),
                name="one_image_saving_at_a_time",
            ),
            models.UniqueConstraint(
                fields=["kept"],
                condition=models.Q(status__in=sorted(OPEN_SAVINGS)),
                name="one_sending_of_a_kept_image",
            ),
            models.CheckConstraint(
                condition=models.Q(workload__isnull=False, attempt__isnull=False, kept__isnull=True)
                | models.Q(workload__isnull=True, attempt__isnull=True, kept__isnull=False),
                name="image_saving_of_work_or_of_an_image",
            ),
            models.UniqueConstraint(
                fields=["repository_name", "tag"],
                condition=models.Q(status__in=sorted(OPEN_SAVINGS)),
                name="one_image_saving_to_a_tag",
            ),
            models.UniqueConstraint(fields=["organisation", "owner", "submit_key"], name="image_saving_asked_once"),
            models.CheckConstraint(condition=models.Q(added_bytes__gte=0), name="image_saving_bytes_not_negative"),
            models.CheckConstraint(
                condition=~models.Q(status=SavingStatus.SENDING) | ~models.Q(image=""),
                name="image_saving_sends_an_image",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.repository_name}:{self.tag}"

    @property
    def what(self) -> str:
        """The name of what is saved."""
        return self.workload.name if self.workload is not None else self.kept.name if self.kept is not None else ""

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_SAVINGS

    @property
    def digest(self) -> str:
        """Empty until it was saved."""
        return self.image.partition("@")[2]
