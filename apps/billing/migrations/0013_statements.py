"""Statements of a billing month and their lines; rating runs are found by when they settled."""

import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0012_arrears_budgets_caps"),
        ("tenants", "0005_guarantees"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Statement",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("period", models.CharField(max_length=7)),
                (
                    "state",
                    models.CharField(
                        choices=[("draft", "Draft"), ("reviewed", "Reviewed"), ("issued", "Issued")],
                        default="draft",
                        max_length=8,
                    ),
                ),
                ("opening_fen", models.BigIntegerField(default=0)),
                ("closing_fen", models.BigIntegerField(default=0)),
                ("exact_fen", models.DecimalField(decimal_places=10, default=0, max_digits=30)),
                ("total_fen", models.BigIntegerField(default=0)),
                ("cash_fen", models.BigIntegerField(default=0)),
                ("voucher_fen", models.BigIntegerField(default=0)),
                ("recognised_fen", models.BigIntegerField(default=0)),
                ("received_fen", models.BigIntegerField(default=0)),
                ("built_at", models.DateTimeField()),
                ("complete", models.BooleanField(default=False)),
                ("reviewed_at", models.DateTimeField(null=True)),
                ("issued_at", models.DateTimeField(null=True)),
                ("serial", models.PositiveIntegerField(null=True)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("reason", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "ordering": ["-period", "pk"],
            },
        ),
        migrations.CreateModel(
            name="StatementLine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                (
                    "section",
                    models.CharField(
                        choices=[
                            ("bill", "Consumption"),
                            ("paid", "Paid from"),
                            ("prepaid", "Prepaid"),
                            ("wallet", "Wallet"),
                        ],
                        max_length=8,
                    ),
                ),
                ("kind", models.CharField(max_length=20)),
                ("usage_period", models.CharField(blank=True, max_length=7)),
                ("label_en", models.CharField(blank=True, max_length=160)),
                ("label_zh", models.CharField(blank=True, max_length=160)),
                ("price_number", models.PositiveIntegerField(null=True)),
                ("rate_fen_per_hour", models.DecimalField(decimal_places=10, max_digits=20, null=True)),
                ("discount", models.DecimalField(decimal_places=10, default=0, max_digits=12)),
                ("count", models.PositiveBigIntegerField(default=0)),
                ("seconds", models.DecimalField(decimal_places=6, default=0, max_digits=26)),
                ("amount_fen", models.DecimalField(decimal_places=10, max_digits=30)),
            ],
            options={
                "ordering": ["statement", "position"],
            },
        ),
        migrations.AddIndex(
            model_name="ratingrun",
            index=models.Index(fields=["organisation", "at"], name="run_of_month"),
        ),
        migrations.AddField(
            model_name="statement",
            name="issued_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="statement",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="statement",
            name="reviewed_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="statementline",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="statementline",
            name="price_version",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.priceversion"
            ),
        ),
        migrations.AddField(
            model_name="statementline",
            name="statement",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="lines", to="billing.statement"
            ),
        ),
        migrations.AddIndex(
            model_name="statement",
            index=models.Index(fields=["period", "state"], name="statement_of_period"),
        ),
        migrations.AddIndex(
            model_name="statement",
            index=models.Index(fields=["-created_at"], name="statement_newest"),
        ),
        migrations.AddConstraint(
            model_name="statement",
            constraint=models.UniqueConstraint(fields=("organisation", "period"), name="statement_once"),
        ),
        migrations.AddConstraint(
            model_name="statement",
            constraint=models.UniqueConstraint(fields=("period", "serial"), name="statement_serial_once"),
        ),
        migrations.AddConstraint(
            model_name="statement",
            constraint=models.CheckConstraint(
                condition=models.Q(("period__regex", "^\\d{4}-(0[1-9]|1[0-2])$")), name="statement_period_month"
            ),
        ),
        migrations.AddConstraint(
            model_name="statement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "total_fen",
                        django.db.models.expressions.CombinedExpression(
                            models.F("cash_fen"), "+", models.F("voucher_fen")
                        ),
                    )
                ),
                name="statement_paid_is_total",
            ),
        ),
        migrations.AddConstraint(
            model_name="statement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("reviewed_at__isnull", True), ("state", "draft")),
                    models.Q(
                        models.Q(("state", "draft"), _negated=True), ("complete", True), ("reviewed_at__isnull", False)
                    ),
                    _connector="OR",
                ),
                name="statement_reviewed_is_complete",
            ),
        ),
        migrations.AddConstraint(
            model_name="statement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("issued_at__isnull", False),
                        ("serial__isnull", False),
                        ("state", "issued"),
                        models.Q(("digest", ""), _negated=True),
                    ),
                    models.Q(
                        models.Q(("state", "issued"), _negated=True),
                        ("digest", ""),
                        ("issued_at__isnull", True),
                        ("serial__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="statement_issued_is_sealed",
            ),
        ),
        migrations.AddConstraint(
            model_name="statementline",
            constraint=models.UniqueConstraint(fields=("statement", "position"), name="statement_line_position_once"),
        ),
    ]
