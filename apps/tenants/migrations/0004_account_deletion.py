import uuid

from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.deletion import PROTECT
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("tenants", "0003_password_given")]

    operations = [
        migrations.AddField("user", "erased_at", models.DateTimeField(blank=True, null=True)),
        migrations.CreateModel(
            name="AccountDeletion",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("asked_at", models.DateTimeField(db_default=Now())),
                ("erase_at", models.DateTimeField()),
                ("was_active", models.BooleanField(default=True)),
                ("withdrawn_at", models.DateTimeField(null=True)),
                ("erased_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("name_digest", models.CharField(blank=True, default="", max_length=64)),
                (
                    "asked_by",
                    models.ForeignKey(
                        null=True, on_delete=PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(on_delete=PROTECT, related_name="deletions", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=Q(withdrawn_at=None, finished_at=None),
                        fields=["erase_at"],
                        name="account_deletion_open",
                    ),
                    models.Index(condition=~Q(name_digest=""), fields=["name_digest"], name="account_deletion_name"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(withdrawn_at=None), fields=("user",), name="account_deletion_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(withdrawn_at=None) | Q(erased_at=None), name="account_deletion_withdrawn_or_erased"
                    ),
                    models.CheckConstraint(
                        condition=Q(finished_at=None) | Q(erased_at__isnull=False),
                        name="account_deletion_finished_after_erased",
                    ),
                    models.CheckConstraint(
                        condition=Q(erase_at__gte=F("asked_at")), name="account_deletion_has_a_term"
                    ),
                ],
            },
        ),
    ]
