"""Discounts, vouchers and what they pay; storage as a package of its own, metered in GiB."""

import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0017_term_prices"),
        ("tenants", "0005_guarantees"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ChargeCover",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("exact_fen", models.DecimalField(decimal_places=10, max_digits=30)),
            ],
        ),
        migrations.CreateModel(
            name="Discount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("off", models.DecimalField(decimal_places=4, max_digits=5)),
                ("effective_from", models.DateTimeField()),
                ("effective_to", models.DateTimeField(null=True)),
                ("note", models.CharField(blank=True, max_length=300)),
                ("made_by", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "ordering": ["organisation", "number"],
            },
        ),
        migrations.CreateModel(
            name="Voucher",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("amount_fen", models.BigIntegerField()),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("everything", "Everything"),
                            ("package", "One package"),
                            ("gpu_model", "One GPU model"),
                            ("storage", "Storage"),
                        ],
                        max_length=12,
                    ),
                ),
                ("gpu_model", models.CharField(blank=True, max_length=80)),
                ("valid_from", models.DateTimeField()),
                ("valid_until", models.DateTimeField()),
                ("note", models.CharField(blank=True, max_length=300)),
                ("used_fen", models.BigIntegerField(db_default=0, default=0)),
                ("left_fen", models.BigIntegerField()),
                ("covered_exact", models.DecimalField(db_default=0, decimal_places=10, default=0, max_digits=30)),
                ("voided_at", models.DateTimeField(null=True)),
                ("issued_by", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="VoucherEnd",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("reason", models.CharField(choices=[("expired", "Expired"), ("voided", "Voided")], max_length=12)),
                ("amount_fen", models.BigIntegerField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="VoucherUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("exact_fen", models.DecimalField(decimal_places=10, max_digits=30)),
                ("amount_fen", models.BigIntegerField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="hold",
            name="hold_not_negative",
        ),
        migrations.RemoveConstraint(
            model_name="package",
            name="package_has_cpu_and_memory",
        ),
        migrations.RemoveConstraint(
            model_name="ratingrun",
            name="run_moves_what_it_says",
        ),
        migrations.AddField(
            model_name="charge",
            name="discount_off",
            field=models.DecimalField(db_default=Decimal("0"), decimal_places=4, default=Decimal("0"), max_digits=5),
        ),
        migrations.AddField(
            model_name="charge",
            name="voucher_exact",
            field=models.DecimalField(db_default=Decimal("0"), decimal_places=10, default=Decimal("0"), max_digits=30),
        ),
        migrations.AddField(
            model_name="hold",
            name="covered_fen",
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="metersession",
            name="discount_off",
            field=models.DecimalField(db_default=Decimal("0"), decimal_places=4, default=Decimal("0"), max_digits=5),
        ),
        migrations.AddField(
            model_name="metersession",
            name="resource",
            field=models.CharField(
                choices=[("compute", "Compute"), ("storage", "Storage")],
                db_default="compute",
                default="compute",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="package",
            name="resource",
            field=models.CharField(
                choices=[("compute", "Compute"), ("storage", "Storage")],
                db_default="compute",
                default="compute",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="ratingrun",
            name="voucher_fen",
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount_fen__gte", 0), ("covered_fen__gte", 0)), name="hold_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="package",
            constraint=models.UniqueConstraint(
                condition=models.Q(("resource", "storage")), fields=("resource",), name="package_one_of_storage"
            ),
        ),
        migrations.AddConstraint(
            model_name="package",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("cpu_milli__gt", 0), ("memory_mib__gt", 0), ("resource", "compute")),
                    models.Q(("cpu_milli", 0), ("gpu_count", 0), ("memory_mib", 0), ("resource", "storage")),
                    _connector="OR",
                ),
                name="package_has_cpu_and_memory",
            ),
        ),
        migrations.AddConstraint(
            model_name="ratingrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("amount_fen", models.F("voucher_fen")), ("transfer__isnull", True)),
                    models.Q(
                        models.Q(("amount_fen", models.F("voucher_fen")), _negated=True), ("transfer__isnull", False)
                    ),
                    _connector="OR",
                ),
                name="run_moves_what_it_says",
            ),
        ),
        migrations.AddConstraint(
            model_name="ratingrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("amount_fen__gte", models.F("voucher_fen")), ("voucher_fen__gte", 0)),
                    models.Q(("amount_fen__lte", models.F("voucher_fen")), ("voucher_fen__lte", 0)),
                    _connector="OR",
                ),
                name="run_vouchers_within_amount",
            ),
        ),
        migrations.AddField(
            model_name="chargecover",
            name="charge",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="covers", to="billing.charge"
            ),
        ),
        migrations.AddField(
            model_name="chargecover",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="discount",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="metersession",
            name="discount",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.discount"
            ),
        ),
        migrations.AddConstraint(
            model_name="metersession",
            constraint=models.UniqueConstraint(
                condition=models.Q(("closed_at__isnull", True), ("resource", "storage")),
                fields=("workload_id",),
                name="session_one_open_of_storage",
            ),
        ),
        migrations.AddConstraint(
            model_name="metersession",
            constraint=models.CheckConstraint(
                condition=models.Q(("discount__isnull", False), ("discount_off", Decimal("0")), _connector="OR"),
                name="session_discount_is_a_version",
            ),
        ),
        migrations.AddField(
            model_name="voucher",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="voucher",
            name="package",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.package"
            ),
        ),
        migrations.AddField(
            model_name="voucher",
            name="transfer",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="voucher", to="billing.transfer"
            ),
        ),
        migrations.AddField(
            model_name="chargecover",
            name="voucher",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="covers", to="billing.voucher"
            ),
        ),
        migrations.AddField(
            model_name="voucherend",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="voucherend",
            name="transfer",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="voucher_end", to="billing.transfer"
            ),
        ),
        migrations.AddField(
            model_name="voucherend",
            name="voucher",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="ends", to="billing.voucher"
            ),
        ),
        migrations.AddField(
            model_name="voucheruse",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="voucheruse",
            name="run",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="voucher_uses", to="billing.ratingrun"
            ),
        ),
        migrations.AddField(
            model_name="voucheruse",
            name="transfer",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="voucher_use",
                to="billing.transfer",
            ),
        ),
        migrations.AddField(
            model_name="voucheruse",
            name="voucher",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="uses", to="billing.voucher"
            ),
        ),
        migrations.AddConstraint(
            model_name="discount",
            constraint=models.UniqueConstraint(fields=("organisation", "number"), name="discount_number_once"),
        ),
        migrations.AddConstraint(
            model_name="discount",
            constraint=models.UniqueConstraint(
                condition=models.Q(("effective_to__isnull", True)),
                fields=("organisation",),
                name="discount_one_open_version",
            ),
        ),
        migrations.AddConstraint(
            model_name="discount",
            constraint=models.CheckConstraint(
                condition=models.Q(("off__gte", Decimal("0")), ("off__lte", Decimal("1"))), name="discount_is_a_share"
            ),
        ),
        migrations.AddConstraint(
            model_name="discount",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("effective_to__isnull", True), ("effective_to__gte", models.F("effective_from")), _connector="OR"
                ),
                name="discount_ends_after_start",
            ),
        ),
        migrations.AddIndex(
            model_name="voucher",
            index=models.Index(fields=["organisation", "valid_until"], name="voucher_soonest"),
        ),
        migrations.AddIndex(
            model_name="voucher",
            index=models.Index(condition=models.Q(("left_fen__gt", 0)), fields=["valid_until"], name="voucher_to_end"),
        ),
        migrations.AddConstraint(
            model_name="voucher",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount_fen__gt", 0)), name="voucher_amount_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="voucher",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "amount_fen__gte",
                        django.db.models.expressions.CombinedExpression(
                            models.F("left_fen"), "+", models.F("used_fen")
                        ),
                    ),
                    ("left_fen__gte", 0),
                    ("used_fen__gte", 0),
                ),
                name="voucher_left_within_amount",
            ),
        ),
        migrations.AddConstraint(
            model_name="voucher",
            constraint=models.CheckConstraint(
                condition=models.Q(("covered_exact__gte", 0), ("covered_exact__lte", models.F("amount_fen"))),
                name="voucher_covers_within_amount",
            ),
        ),
        migrations.AddConstraint(
            model_name="voucher",
            constraint=models.CheckConstraint(
                condition=models.Q(("valid_until__gt", models.F("valid_from"))), name="voucher_ends_after_start"
            ),
        ),
        migrations.AddConstraint(
            model_name="voucher",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("gpu_model", ""), ("package__isnull", False), ("scope", "package")),
                    models.Q(
                        ("package__isnull", True), ("scope", "gpu_model"), models.Q(("gpu_model", ""), _negated=True)
                    ),
                    models.Q(("gpu_model", ""), ("package__isnull", True), ("scope__in", ["everything", "storage"])),
                    _connector="OR",
                ),
                name="voucher_scope_is_named",
            ),
        ),
        migrations.AddConstraint(
            model_name="chargecover",
            constraint=models.UniqueConstraint(fields=("charge", "voucher"), name="cover_once"),
        ),
        migrations.AddConstraint(
            model_name="voucherend",
            constraint=models.UniqueConstraint(fields=("voucher", "number"), name="voucher_end_number_once"),
        ),
        migrations.AddConstraint(
            model_name="voucherend",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount_fen__gt", 0)), name="voucher_end_amount_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="voucheruse",
            constraint=models.UniqueConstraint(fields=("voucher", "run"), name="voucher_use_once_a_run"),
        ),
        migrations.AddConstraint(
            model_name="voucheruse",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("amount_fen", 0), ("transfer__isnull", True)),
                    models.Q(models.Q(("amount_fen", 0), _negated=True), ("transfer__isnull", False)),
                    _connector="OR",
                ),
                name="voucher_use_moves_what_it_says",
            ),
        ),
    ]
