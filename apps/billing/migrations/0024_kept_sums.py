"""Sums of charges, kept by a trigger on the charges and filled from those that are there."""

from decimal import Decimal

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

# A statement's new charges at once, whether they come by INSERT or COPY. The keys are taken in one order, so that two
# raters never wait for each other in a circle; those of one organisation stand behind its wallet's lock anyway.
SUMS = """
INSERT INTO billing_sessionday AS kept
    (session_id, day, organisation_id, price_version_id, charges, seconds, exact_fen, voucher_exact, amount_fen,
    start, "end")
SELECT session_id, day, organisation_id, price_version_id, count(*), sum(seconds), sum(exact_fen), sum(voucher_exact),
    sum(amount_fen), min(start), max("end")
FROM {charges} GROUP BY session_id, day, organisation_id, price_version_id ORDER BY session_id, day
ON CONFLICT (session_id, day) DO UPDATE SET
    charges = kept.charges + excluded.charges, seconds = kept.seconds + excluded.seconds,
    exact_fen = kept.exact_fen + excluded.exact_fen, voucher_exact = kept.voucher_exact + excluded.voucher_exact,
    amount_fen = kept.amount_fen + excluded.amount_fen,
    start = least(kept.start, excluded.start), "end" = greatest(kept."end", excluded."end");

INSERT INTO billing_daysum AS kept
    (organisation_id, billed, day, price_version_id, discount_off, revision, charges, seconds, replica_seconds,
    exact_fen, voucher_exact, amount_fen)
SELECT charge.organisation_id, to_char(run.at AT TIME ZONE '{zone}', 'YYYY-MM') AS billed, day, price_version_id,
    discount_off, revision, count(*), sum(seconds), sum(seconds * (replicas - covered)), sum(charge.exact_fen),
    sum(voucher_exact), sum(charge.amount_fen)
FROM {charges} AS charge JOIN billing_ratingrun AS run ON run.id = charge.run_id
GROUP BY charge.organisation_id, billed, day, price_version_id, discount_off, revision
ORDER BY charge.organisation_id, billed, day, price_version_id, discount_off, revision
ON CONFLICT (organisation_id, billed, day, price_version_id, discount_off, revision) DO UPDATE SET
    charges = kept.charges + excluded.charges, seconds = kept.seconds + excluded.seconds,
    replica_seconds = kept.replica_seconds + excluded.replica_seconds,
    exact_fen = kept.exact_fen + excluded.exact_fen, voucher_exact = kept.voucher_exact + excluded.voucher_exact,
    amount_fen = kept.amount_fen + excluded.amount_fen;
"""
ZONE = settings.BILLING_TIME_ZONE

# The trigger first: from its lock on no charge is added until the migration has committed, so none is missed.
KEEP = f"""
CREATE FUNCTION billing_charge_sums() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    {SUMS.format(charges="added", zone=ZONE)}
    RETURN NULL;
END $$;

CREATE TRIGGER billing_charge_sums AFTER INSERT ON billing_charge
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION billing_charge_sums();

-- A day's sums change with each rating of the day: new versions of a row find room beside the old one.
ALTER TABLE billing_sessionday SET (fillfactor = 70);
ALTER TABLE billing_daysum SET (fillfactor = 70);
"""
DROP = "DROP TRIGGER billing_charge_sums ON billing_charge; DROP FUNCTION billing_charge_sums();"


def derived(to: str, related_name: str = "+") -> models.ForeignKey:
    return models.ForeignKey(
        to=to,
        on_delete=django.db.models.deletion.PROTECT,
        related_name=related_name,
        db_constraint=False,
        db_index=False,
    )


def sums() -> list[tuple[str, models.Field]]:
    return [
        ("charges", models.PositiveBigIntegerField()),
        ("seconds", models.DecimalField(decimal_places=6, max_digits=26)),
        ("exact_fen", models.DecimalField(decimal_places=10, max_digits=30)),
        ("voucher_exact", models.DecimalField(decimal_places=10, max_digits=30)),
        ("amount_fen", models.BigIntegerField()),
    ]


class Migration(migrations.Migration):
    dependencies = [("billing", "0023_prepaid_discounts")]

    operations = [
        migrations.CreateModel(
            name="SessionDay",
            fields=[
                *sums(),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "session_id", "day", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("session", derived("billing.metersession", "days")),
                ("day", models.DateField()),
                ("organisation", derived("tenants.organisation")),
                ("price_version", derived("billing.priceversion")),
                ("start", models.DateTimeField()),
                ("end", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["organisation", "day"], name="session_day_by_owner"),
                    models.Index(fields=["day"], name="session_day_by_day"),
                ],
                "constraints": [models.CheckConstraint(condition=Q(charges__gte=1), name="session_day_has_charges")],
            },
        ),
        migrations.CreateModel(
            name="DaySum",
            fields=[
                *sums(),
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "organisation_id",
                        "billed",
                        "day",
                        "price_version_id",
                        "discount_off",
                        "revision",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("organisation", derived("tenants.organisation")),
                ("billed", models.CharField(max_length=7)),
                ("day", models.DateField()),
                ("price_version", derived("billing.priceversion")),
                ("discount_off", models.DecimalField(decimal_places=4, default=Decimal(0), max_digits=5)),
                ("revision", models.PositiveSmallIntegerField()),
                ("replica_seconds", models.DecimalField(decimal_places=6, max_digits=30)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["day"], name="day_sum_by_day"),
                    models.Index(fields=["billed"], name="day_sum_by_month"),
                ],
                "constraints": [models.CheckConstraint(condition=Q(charges__gte=1), name="day_sum_has_charges")],
            },
        ),
        migrations.RunSQL(KEEP, DROP),
        migrations.RunSQL(SUMS.format(charges="billing_charge", zone=ZONE), migrations.RunSQL.noop),
    ]
