"""A price version is closed once and never changed otherwise; versions of a package follow each other."""

from django.db import migrations

PRICES = """
CREATE FUNCTION billing_price_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number > 1 AND NOT EXISTS (
        SELECT 1 FROM billing_priceversion
        WHERE package_id = NEW.package_id AND number = NEW.number - 1 AND effective_to <= NEW.effective_from
    ) THEN
        RAISE EXCEPTION 'the former price is still in force' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'price_follows';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER billing_price_follows BEFORE INSERT ON billing_priceversion
    FOR EACH ROW EXECUTE FUNCTION billing_price_follows();

CREATE FUNCTION billing_price_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.effective_to IS NULL AND NEW.effective_to IS NOT NULL
        AND (NEW.id, NEW.package_id, NEW.number, NEW.rate_fen_per_hour, NEW.effective_from)
            = (OLD.id, OLD.package_id, OLD.number, OLD.rate_fen_per_hour, OLD.effective_from) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a price version is not allowed', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER billing_price_immutable BEFORE UPDATE OR DELETE ON billing_priceversion
    FOR EACH ROW EXECUTE FUNCTION billing_price_immutable();
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0002_ledger")]

    operations = [
        migrations.RunSQL(
            PRICES, "DROP FUNCTION billing_price_follows CASCADE; DROP FUNCTION billing_price_immutable CASCADE"
        ),
    ]
