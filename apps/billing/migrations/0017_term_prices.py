"""A price by the period is closed once and never changed otherwise; versions follow each other."""

from django.db import migrations

from apps.common.append_only import append_only

PRICES = """
CREATE FUNCTION billing_term_price_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number > 1 AND NOT EXISTS (
        SELECT 1 FROM billing_termprice
        WHERE package_id = NEW.package_id AND term = NEW.term AND number = NEW.number - 1
            AND effective_to <= NEW.effective_from
    ) THEN
        RAISE EXCEPTION 'the former price is still in force' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'term_price_follows';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER billing_term_price_follows BEFORE INSERT ON billing_termprice
    FOR EACH ROW EXECUTE FUNCTION billing_term_price_follows();

CREATE FUNCTION billing_term_price_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.effective_to IS NULL AND NEW.effective_to IS NOT NULL
        AND (NEW.id, NEW.package_id, NEW.term, NEW.number, NEW.price_fen, NEW.effective_from)
            = (OLD.id, OLD.package_id, OLD.term, OLD.number, OLD.price_fen, OLD.effective_from) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a price is not allowed', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER billing_term_price_immutable BEFORE UPDATE OR DELETE ON billing_termprice
    FOR EACH ROW EXECUTE FUNCTION billing_term_price_immutable();
"""

# What was earned or given back is never taken back; what was paid for stays what it was.
PURCHASES = """
CREATE FUNCTION billing_purchase_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.recognised_fen < OLD.recognised_fen OR NEW.recognised_days < OLD.recognised_days
        OR NEW.returned_fen < OLD.returned_fen OR (OLD.cut_at IS NOT NULL AND NEW.cut_at IS DISTINCT FROM OLD.cut_at)
        OR (NEW.amount_fen, NEW.starts_at, NEW.ends_at, NEW.order_id, NEW.price_id)
            <> (OLD.amount_fen, OLD.starts_at, OLD.ends_at, OLD.order_id, OLD.price_id) THEN
        RAISE EXCEPTION 'a purchase only moves on' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'prepaid_purchase_moves_on';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER billing_purchase_moves_on BEFORE UPDATE ON billing_prepaidpurchase
    FOR EACH ROW EXECUTE FUNCTION billing_purchase_moves_on();
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0016_prepaid")]

    operations = [
        migrations.RunSQL(
            PRICES,
            "DROP FUNCTION billing_term_price_follows CASCADE; DROP FUNCTION billing_term_price_immutable CASCADE",
        ),
        migrations.RunSQL(PURCHASES, "DROP FUNCTION billing_purchase_moves_on CASCADE"),
        append_only("billing_prepaidseat"),
        append_only("billing_prepaidstop"),
    ]
