"""What ran, for how long: the meter's sessions and the usage slices cut from them."""

import uuid
from decimal import Decimal

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.billing.choices import Resource
from apps.billing.models.catalogue import PriceVersion
from apps.billing.models.discounts import OFF_PLACES, Discount
from apps.common.scoping import TenantModel
from apps.common.tags import LONGEST, LONGEST_KEY, MOST
from apps.tenants.models import Organisation, User


class MeterSession(TenantModel):
    """One attempt's running time, half-open: [opened_at, closed_at), or up to the last proof while it runs.

    `id` is the attempt's. `rated_until` is where its slices end; `settled` once it is closed and all of it rated.
    A trigger (sql/session_moves_on.sql) keeps a closed session closed and lets `proven_until` go back only at the
    close. The price version is the one that was quoted, the discount the one in force at the opening (`discount_off`
    is a copy of its share), whatever has been set since. So are the tags: those that the run had at the opening, as
    typed and as they are compared; a trigger (sql/session_tags_stay.sql) keeps them, and with them what each charge is
    counted under.

    Storage is metered likewise: a session for each volume or dataset version and each size of it, `replicas` in GiB,
    `workload_id` the id of what is kept; one of them is open at a time.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    workload_id = models.UUIDField()
    set_id = models.UUIDField(null=True)  # of a replica: the set that it is one of, which a cap may be on
    label = models.CharField(max_length=200)
    price_version = models.ForeignKey(PriceVersion, on_delete=models.PROTECT, related_name="+")
    resource = models.CharField(max_length=8, choices=Resource, default=Resource.COMPUTE, db_default=Resource.COMPUTE)
    replicas = models.PositiveIntegerField(default=1)
    discount = models.ForeignKey(Discount, on_delete=models.PROTECT, null=True, related_name="+")
    discount_off = models.DecimalField(
        max_digits=OFF_PLACES + 1, decimal_places=OFF_PLACES, default=Decimal(0), db_default=Decimal(0)
    )
    tags = ArrayField(models.CharField(max_length=LONGEST), default=list, db_default=[])
    tag_keys = ArrayField(models.CharField(max_length=LONGEST_KEY), default=list, db_default=[])
    opened_at = models.DateTimeField()
    proven_until = models.DateTimeField()
    rated_until = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    settled = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            # `proven_until` changes with each proof and stays out of every index, so that its updates are cheap.
            models.Index(fields=["organisation"], name="session_unsettled", condition=Q(settled=False)),
            models.Index(fields=["workload_id"], name="session_of_workload"),
            models.Index(fields=["set_id"], name="session_of_set", condition=Q(set_id__isnull=False)),
            models.Index(fields=["user"], name="session_of_user"),
            # What ran beside a session, for the places of prepaid orders.
            models.Index(fields=["organisation", "closed_at"], name="session_by_end"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["workload_id"],
                condition=Q(resource=Resource.STORAGE, closed_at__isnull=True),
                name="session_one_open_of_storage",
            ),
            models.CheckConstraint(condition=Q(replicas__gte=1), name="session_has_replicas"),
            models.CheckConstraint(
                condition=Q(discount__isnull=False) | Q(discount_off=Decimal(0)), name="session_discount_is_a_version"
            ),
            models.CheckConstraint(
                condition=Q(proven_until__gte=F("opened_at"), rated_until__gte=F("opened_at")),
                name="session_never_before_opening",
            ),
            models.CheckConstraint(
                condition=Q(closed_at__isnull=True) | Q(closed_at=F("proven_until")), name="session_closed_is_proven"
            ),
            models.CheckConstraint(
                condition=Q(settled=False) | Q(closed_at=F("rated_until"), closed_at__isnull=False),
                name="session_settled_is_rated",
            ),
            models.CheckConstraint(
                condition=Q(tags__len__lte=MOST, tag_keys__len=F("tags__len")), name="session_tags_few"
            ),
        ]


class UsageSlice(TenantModel):
    """A piece of a session, within one UTC hour. Slices of a session tile: no gap, no overlap can be stored.

    The primary key and the unique end make the chain; the foreign key (session, prev_end) → (session, end) and the
    check prev_end = start (migration 0002) make each slice begin where another ends, the first at the opening.
    """

    pk = models.CompositePrimaryKey("session_id", "start")
    # The key (session, organisation) of migration 0002 stands for both; the primary key begins with the session.
    session = models.ForeignKey(
        MeterSession, on_delete=models.PROTECT, related_name="slices", db_constraint=False, db_index=False
    )
    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    start = models.DateTimeField()
    end = models.DateTimeField()
    prev_end = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "end"], name="slice_end_once"),
            models.UniqueConstraint(fields=["session"], condition=Q(prev_end__isnull=True), name="slice_first_once"),
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="slice_not_empty"),
            models.CheckConstraint(
                condition=Q(prev_end__isnull=True) | Q(prev_end=F("start")), name="slice_follows_at_once"
            ),
        ]
