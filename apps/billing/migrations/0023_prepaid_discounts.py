"""Prepaid purchases say what was listed and which discount was taken off; older ones were paid as listed."""

from decimal import Decimal

import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.math
from django.db import migrations, models

OF_DISCOUNT = """
ALTER TABLE billing_prepaidpurchase ADD CONSTRAINT prepaid_purchase_of_discount
    FOREIGN KEY (discount_id, organisation_id, discount_off) REFERENCES billing_discount (id, organisation_id, off);
"""

# As in 0017, and its terms as well.
MOVES_ON = """
CREATE OR REPLACE FUNCTION billing_purchase_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.recognised_fen < OLD.recognised_fen OR NEW.recognised_days < OLD.recognised_days
        OR NEW.returned_fen < OLD.returned_fen OR (OLD.cut_at IS NOT NULL AND NEW.cut_at IS DISTINCT FROM OLD.cut_at)
        OR (NEW.amount_fen, NEW.starts_at, NEW.ends_at, NEW.order_id, NEW.price_id{columns})
            IS DISTINCT FROM (OLD.amount_fen, OLD.starts_at, OLD.ends_at, OLD.order_id, OLD.price_id{former}) THEN
        RAISE EXCEPTION 'a purchase only moves on' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'prepaid_purchase_moves_on';
    END IF;
    RETURN NEW;
END $$;
"""
TERMS = {
    "columns": ", NEW.list_fen, NEW.discount_id, NEW.discount_off",
    "former": ", OLD.list_fen, OLD.discount_id, OLD.discount_off",
}


class Migration(migrations.Migration):
    dependencies = [("billing", "0022_quick_postings")]

    operations = [
        migrations.AddField(
            model_name="prepaidpurchase",
            name="discount",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="billing.discount"
            ),
        ),
        migrations.AddField(
            model_name="prepaidpurchase",
            name="discount_off",
            field=models.DecimalField(db_default=Decimal("0"), decimal_places=4, default=Decimal("0"), max_digits=5),
        ),
        migrations.AddField(model_name="prepaidpurchase", name="list_fen", field=models.BigIntegerField(null=True)),
        migrations.RunSQL("UPDATE billing_prepaidpurchase SET list_fen = amount_fen", migrations.RunSQL.noop),
        migrations.AlterField(model_name="prepaidpurchase", name="list_fen", field=models.BigIntegerField()),
        migrations.AddConstraint(
            model_name="prepaidpurchase",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "amount_fen",
                        django.db.models.functions.math.Ceil(
                            models.ExpressionWrapper(
                                django.db.models.expressions.CombinedExpression(
                                    models.F("list_fen"),
                                    "*",
                                    django.db.models.expressions.CombinedExpression(
                                        models.Value(Decimal("1")), "-", models.F("discount_off")
                                    ),
                                ),
                                output_field=models.DecimalField(decimal_places=4, max_digits=30),
                            )
                        ),
                    )
                ),
                name="prepaid_purchase_costs_list_less_discount",
            ),
        ),
        migrations.AddConstraint(
            model_name="prepaidpurchase",
            constraint=models.CheckConstraint(
                condition=models.Q(("discount__isnull", False), ("discount_off", Decimal("0")), _connector="OR"),
                name="prepaid_purchase_discount_is_a_version",
            ),
        ),
        migrations.RunSQL(
            OF_DISCOUNT, "ALTER TABLE billing_prepaidpurchase DROP CONSTRAINT prepaid_purchase_of_discount"
        ),
        migrations.RunSQL(MOVES_ON.format(**TERMS), MOVES_ON.format(columns="", former="")),
    ]
