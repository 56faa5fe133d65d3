import uuid

from django.conf import settings
from django.db import migrations, models
from django.db.models import Q
from django.db.models.deletion import PROTECT
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("tenants", "0004_account_deletion")]

    operations = [
        migrations.CreateModel(
            name="OwnDataExport",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("language", models.CharField(max_length=10)),
                ("asked_at", models.DateTimeField(db_default=Now())),
                ("claimed_at", models.DateTimeField(null=True)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("ready_at", models.DateTimeField(null=True)),
                ("failed_at", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("content", models.BinaryField(null=True)),
                ("size", models.BigIntegerField(default=0)),
                ("user", models.ForeignKey(on_delete=PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["asked_at"], name="own_data_open", condition=Q(ready_at=None, failed_at=None)
                    ),
                    models.Index(
                        fields=["expires_at"], name="own_data_to_expire", condition=Q(expires_at__isnull=False)
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=["user"], condition=Q(ready_at=None, failed_at=None), name="own_data_once_under_way"
                    ),
                    models.CheckConstraint(
                        condition=Q(ready_at=None)
                        | Q(content__isnull=False, expires_at__isnull=False, failed_at=None),
                        name="own_data_ready_has_a_file",
                    ),
                ],
            },
        ),
    ]
