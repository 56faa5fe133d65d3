
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0013_statements"),
        ("tenants", "0005_guarantees"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AlipayBill",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("digest", models.CharField(max_length=64)),
                ("size", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
                (
                    "source",
                    models.CharField(
                        choices=[("downloaded", "Downloaded from Alipay"), ("uploaded", "Uploaded by hand")],
                        max_length=10,
                    ),
                ),
                ("lines", models.PositiveIntegerField()),
                ("others", models.PositiveIntegerField(default=0)),
                ("others_fen", models.BigIntegerField(default=0)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "ordering": ["-at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="BillDay",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting for the bill"),
                            ("agrees", "Agrees"),
                            ("differs", "Does not agree"),
                            ("empty", "No payments"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("next_try_at", models.DateTimeField(null=True)),
                ("problem", models.CharField(blank=True, max_length=200)),
                ("compared_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-day"],
            },
        ),
        migrations.CreateModel(
            name="BillItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("kind", models.CharField(choices=[("payment", "Payment"), ("refund", "Refund")], max_length=8)),
                ("out_trade_no", models.CharField(max_length=64)),
                ("out_request_no", models.CharField(blank=True, max_length=64)),
                ("trade_no", models.CharField(blank=True, max_length=64)),
                ("theirs_fen", models.BigIntegerField(null=True)),
                ("ours_fen", models.BigIntegerField(null=True)),
                ("fee_fen", models.BigIntegerField(default=0)),
                ("paid_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("matched", "Matched"),
                            ("ours_only", "Ours only"),
                            ("theirs_only", "Alipay's only"),
                            ("differs", "Amount differs"),
                        ],
                        max_length=12,
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=300, verbose_name="note")),
                ("closed_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "ordering": ["-day", "-pk"],
            },
        ),
        migrations.RemoveConstraint(
            model_name="rechargerequest",
            name="recharge_request_reverses_one",
        ),
        migrations.RemoveConstraint(
            model_name="rechargerequest",
            name="recharge_reversed_once",
        ),
        migrations.AlterField(
            model_name="rechargerequest",
            name="kind",
            field=models.CharField(
                choices=[("recharge", "Recharge"), ("reversal", "Reversal"), ("refund", "Refund by Alipay")],
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="topuporder",
            name="user",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddConstraint(
            model_name="rechargerequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "recharge"), ("reverses__isnull", True)),
                    models.Q(("kind__in", ["reversal", "refund"]), ("reverses__isnull", False)),
                    _connector="OR",
                ),
                name="recharge_request_reverses_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="rechargerequest",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "reversal"), ("state__in", ["pending", "approved"])),
                fields=("reverses",),
                name="recharge_reversed_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="rechargerequest",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "refund"), ("state", "pending")),
                fields=("reverses",),
                name="refund_request_one_pending",
            ),
        ),
        migrations.AddField(
            model_name="alipaybill",
            name="brought_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="billday",
            name="bill",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.alipaybill"
            ),
        ),
        migrations.AddField(
            model_name="billitem",
            name="bill",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="items", to="billing.alipaybill"
            ),
        ),
        migrations.AddField(
            model_name="billitem",
            name="closed_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="billitem",
            name="fee",
            field=models.OneToOneField(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.transfer"
            ),
        ),
        migrations.AddField(
            model_name="billitem",
            name="order",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="bill_items",
                to="billing.topuporder",
            ),
        ),
        migrations.AddField(
            model_name="billitem",
            name="organisation",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="billitem",
            name="refund",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="bill_items",
                to="billing.topuprefund",
            ),
        ),
        migrations.AddConstraint(
            model_name="alipaybill",
            constraint=models.UniqueConstraint(fields=("day", "digest"), name="alipay_bill_once"),
        ),
        migrations.AddIndex(
            model_name="billday",
            index=models.Index(
                condition=models.Q(("next_try_at__isnull", False)), fields=["next_try_at"], name="bill_day_due"
            ),
        ),
        migrations.AddConstraint(
            model_name="billday",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state__in", ["agrees", "differs"]), _negated=True),
                    models.Q(("bill__isnull", False), ("compared_at__isnull", False)),
                    _connector="OR",
                ),
                name="bill_day_compared_has_bill",
            ),
        ),
        migrations.AddIndex(
            model_name="billitem",
            index=models.Index(fields=["day", "outcome"], name="bill_item_of_day"),
        ),
        migrations.AddIndex(
            model_name="billitem",
            index=models.Index(
                condition=models.Q(("closed_at__isnull", True), models.Q(("outcome", "matched"), _negated=True)),
                fields=["-day"],
                name="bill_item_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="billitem",
            constraint=models.UniqueConstraint(
                fields=("kind", "out_trade_no", "out_request_no"), name="bill_item_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="billitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("theirs_fen__gt", 0), ("theirs_fen__isnull", True), _connector="OR"),
                    models.Q(("ours_fen__gt", 0), ("ours_fen__isnull", True), _connector="OR"),
                ),
                name="bill_item_positive",
            ),
        ),
        migrations.AddConstraint(
            model_name="billitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("outcome", "matched"), ("theirs_fen", models.F("ours_fen")), ("theirs_fen__isnull", False)
                    ),
                    models.Q(("ours_fen__isnull", False), ("outcome", "ours_only"), ("theirs_fen__isnull", True)),
                    models.Q(("ours_fen__isnull", True), ("outcome", "theirs_only"), ("theirs_fen__isnull", False)),
                    models.Q(
                        ("ours_fen__isnull", False),
                        ("outcome", "differs"),
                        ("theirs_fen__isnull", False),
                        models.Q(("theirs_fen", models.F("ours_fen")), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="bill_item_outcome_says_it",
            ),
        ),
        migrations.AddConstraint(
            model_name="billitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("closed_at__isnull", True), ("closed_by__isnull", True), ("note", "")),
                    models.Q(
                        ("closed_at__isnull", False),
                        ("closed_by__isnull", False),
                        models.Q(("note", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="bill_item_closed_has_note",
            ),
        ),
    ]
