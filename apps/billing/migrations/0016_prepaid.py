"""Prepaid time: prices by the period, orders and their purchases; what charges they cover."""

import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0015_statement_freeze"),
        ("tenants", "0005_guarantees"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.CreateModel(
            name="PrepaidOrder",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("quantity", models.PositiveIntegerField()),
                (
                    "term",
                    models.CharField(
                        choices=[
                            ("hour", "By the hour"),
                            ("day", "By the day"),
                            ("month", "By the month"),
                            ("year", "By the year"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("active", "Active"),
                            ("expired", "Expired"),
                            ("changed", "Changed"),
                            ("refunded", "Given back"),
                        ],
                        default="active",
                        max_length=12,
                    ),
                ),
                ("anchor", models.DateTimeField()),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("covers_until", models.DateTimeField()),
                ("auto_renew", models.BooleanField(default=False)),
                (
                    "at_end",
                    models.CharField(
                        choices=[("hourly", "Goes on by the hour"), ("stop", "Is saved and stopped")],
                        default="hourly",
                        max_length=8,
                    ),
                ),
                ("key", models.CharField(max_length=80)),
                ("told_days", models.PositiveSmallIntegerField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={"ordering": ["-created_at", "-pk"]},
        ),
        migrations.CreateModel(
            name="PrepaidPurchase",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("first_period", models.PositiveIntegerField()),
                ("periods", models.PositiveIntegerField()),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("amount_fen", models.BigIntegerField()),
                ("recognised_days", models.PositiveIntegerField(default=0)),
                ("recognised_fen", models.BigIntegerField(default=0)),
                ("next_recognition_at", models.DateTimeField(null=True)),
                ("returned_fen", models.BigIntegerField(default=0)),
                ("cut_at", models.DateTimeField(null=True)),
                ("automatic", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={"ordering": ["order", "number"]},
        ),
        migrations.CreateModel(
            name="PrepaidSeat",
            fields=[
                ("workload_id", models.UUIDField(primary_key=True, serialize=False)),
                ("replicas", models.PositiveIntegerField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="PrepaidStop",
            fields=[
                ("workload_id", models.UUIDField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="TermPrice",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "term",
                    models.CharField(
                        choices=[
                            ("hour", "By the hour"),
                            ("day", "By the day"),
                            ("month", "By the month"),
                            ("year", "By the year"),
                        ],
                        max_length=8,
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("price_fen", models.BigIntegerField()),
                ("effective_from", models.DateTimeField()),
                ("effective_to", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={"ordering": ["package", "term", "number"]},
        ),
        migrations.RemoveConstraint(model_name="hold", name="hold_reason_known"),
        migrations.AddField(
            model_name="charge", name="covered", field=models.PositiveIntegerField(db_default=0, default=0)
        ),
        migrations.AlterField(
            model_name="hold",
            name="reason",
            field=models.CharField(
                choices=[
                    ("start", "Reserved for the start"),
                    ("running", "Reserved for the next hour"),
                    ("settling", "Used, not yet charged"),
                    ("prepaid", "Covered by a prepayment"),
                ],
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="package",
            name="term",
            field=models.CharField(
                choices=[
                    ("hour", "By the hour"),
                    ("day", "By the day"),
                    ("month", "By the month"),
                    ("year", "By the year"),
                ],
                default="hour",
                max_length=8,
                verbose_name="term",
            ),
        ),
        migrations.AddConstraint(
            model_name="charge",
            constraint=models.CheckConstraint(
                condition=models.Q(("covered__lte", models.F("replicas"))), name="charge_covers_what_runs"
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason__in", ["start", "running", "settling", "prepaid"])),
                name="hold_reason_known",
            ),
        ),
        migrations.AddIndex(
            model_name="metersession", index=models.Index(fields=["organisation", "closed_at"], name="session_by_end")
        ),
        migrations.AddField(
            model_name="prepaidorder",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="prepaidorder",
            name="package",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.package"
            ),
        ),
        migrations.AddField(
            model_name="prepaidorder",
            name="replaces",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="replaced_by",
                to="billing.prepaidorder",
            ),
        ),
        migrations.AddField(
            model_name="prepaidorder",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="prepaidpurchase",
            name="order",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="purchases", to="billing.prepaidorder"
            ),
        ),
        migrations.AddField(
            model_name="prepaidpurchase",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="prepaidpurchase",
            name="returned",
            field=models.OneToOneField(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.transfer"
            ),
        ),
        migrations.AddField(
            model_name="prepaidpurchase",
            name="transfer",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="prepaid_purchase", to="billing.transfer"
            ),
        ),
        migrations.AddField(
            model_name="prepaidseat",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="prepaidseat",
            name="package",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.package"
            ),
        ),
        migrations.AddField(
            model_name="prepaidstop",
            name="order",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.prepaidorder"
            ),
        ),
        migrations.AddField(
            model_name="prepaidstop",
            name="organisation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="tenants.organisation"
            ),
        ),
        migrations.AddField(
            model_name="termprice",
            name="package",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="term_prices", to="billing.package"
            ),
        ),
        migrations.AddField(
            model_name="prepaidpurchase",
            name="price",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.termprice"
            ),
        ),
        migrations.AddIndex(
            model_name="prepaidorder",
            index=models.Index(fields=["organisation", "-created_at"], name="prepaid_of_organisation"),
        ),
        migrations.AddIndex(
            model_name="prepaidorder",
            index=models.Index(fields=["organisation", "package", "covers_until"], name="prepaid_covers"),
        ),
        migrations.AddIndex(
            model_name="prepaidorder",
            index=models.Index(condition=models.Q(("status", "active")), fields=["ends_at"], name="prepaid_ending"),
        ),
        migrations.AddConstraint(
            model_name="prepaidorder",
            constraint=models.UniqueConstraint(fields=("organisation", "key"), name="prepaid_key_once"),
        ),
        migrations.AddConstraint(
            model_name="prepaidorder",
            constraint=models.CheckConstraint(
                condition=models.Q(("quantity__gte", 1)), name="prepaid_quantity_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidorder",
            constraint=models.CheckConstraint(
                condition=models.Q(("term__in", ("day", "month", "year"))), name="prepaid_term_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidorder",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["active", "expired", "changed", "refunded"])),
                name="prepaid_status_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidorder",
            constraint=models.CheckConstraint(
                condition=models.Q(("at_end__in", ["hourly", "stop"])), name="prepaid_end_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidorder",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("covers_until__gte", models.F("starts_at")),
                    ("ends_at__gt", models.F("starts_at")),
                    ("starts_at__gte", models.F("anchor")),
                ),
                name="prepaid_in_order",
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidorder",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "active"), _negated=True),
                    ("covers_until__gte", models.F("ends_at")),
                    _connector="OR",
                ),
                name="prepaid_active_covers_what_is_paid",
            ),
        ),
        migrations.AddIndex(
            model_name="prepaidseat", index=models.Index(fields=["organisation", "package"], name="prepaid_seats")
        ),
        migrations.AddIndex(model_name="prepaidstop", index=models.Index(fields=["at"], name="prepaid_stops")),
        migrations.AddConstraint(
            model_name="termprice",
            constraint=models.UniqueConstraint(fields=("package", "term", "number"), name="term_price_number_once"),
        ),
        migrations.AddConstraint(
            model_name="termprice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("effective_to__isnull", True)),
                fields=("package", "term"),
                name="term_price_one_open_version",
            ),
        ),
        migrations.AddConstraint(
            model_name="termprice",
            constraint=models.CheckConstraint(
                condition=models.Q(("term__in", ("day", "month", "year"))), name="term_price_is_prepaid"
            ),
        ),
        migrations.AddConstraint(
            model_name="termprice",
            constraint=models.CheckConstraint(condition=models.Q(("price_fen__gt", 0)), name="term_price_positive"),
        ),
        migrations.AddConstraint(
            model_name="termprice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("effective_to__isnull", True), ("effective_to__gte", models.F("effective_from")), _connector="OR"
                ),
                name="term_price_ends_after_start",
            ),
        ),
        migrations.AddIndex(
            model_name="prepaidpurchase",
            index=models.Index(
                condition=models.Q(("next_recognition_at__isnull", False)),
                fields=["next_recognition_at"],
                name="prepaid_to_recognise",
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidpurchase",
            constraint=models.UniqueConstraint(fields=("order", "number"), name="prepaid_purchase_number_once"),
        ),
        migrations.AddConstraint(
            model_name="prepaidpurchase",
            constraint=models.UniqueConstraint(fields=("order", "first_period"), name="prepaid_period_bought_once"),
        ),
        migrations.AddConstraint(
            model_name="prepaidpurchase",
            constraint=models.CheckConstraint(
                condition=models.Q(("periods__gte", 1)), name="prepaid_purchase_has_periods"
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidpurchase",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount_fen__gt", 0)), name="prepaid_purchase_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidpurchase",
            constraint=models.CheckConstraint(
                condition=models.Q(("ends_at__gt", models.F("starts_at"))), name="prepaid_purchase_not_empty"
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidpurchase",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("recognised_fen__gte", 0),
                    (
                        "recognised_fen__lte",
                        django.db.models.expressions.CombinedExpression(
                            models.F("amount_fen"), "-", models.F("returned_fen")
                        ),
                    ),
                    ("returned_fen__gte", 0),
                ),
                name="prepaid_never_more_than_paid",
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidpurchase",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("next_recognition_at__isnull", False),
                    (
                        "recognised_fen",
                        django.db.models.expressions.CombinedExpression(
                            models.F("amount_fen"), "-", models.F("returned_fen")
                        ),
                    ),
                    _connector="OR",
                ),
                name="prepaid_done_is_all_earned",
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidpurchase",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("returned__isnull", True), ("returned_fen", 0)),
                    models.Q(("returned__isnull", False), ("returned_fen__gt", 0)),
                    _connector="OR",
                ),
                name="prepaid_returned_moved",
            ),
        ),
    ]
