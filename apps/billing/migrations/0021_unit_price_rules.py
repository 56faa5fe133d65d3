"""A price of the list is closed once and never changed otherwise; so is what a package's price was made of."""

from django.db import migrations

UNITS = """
CREATE FUNCTION billing_unit_price_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number > 1 AND NOT EXISTS (
        SELECT 1 FROM billing_unitprice
        WHERE (item, gpu_model, gpu_mode, mig_profile) = (NEW.item, NEW.gpu_model, NEW.gpu_mode, NEW.mig_profile)
            AND number = NEW.number - 1 AND effective_to <= NEW.effective_from
    ) THEN
        RAISE EXCEPTION 'the former price is still in force' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'unit_price_follows';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER billing_unit_price_follows BEFORE INSERT ON billing_unitprice
    FOR EACH ROW EXECUTE FUNCTION billing_unit_price_follows();

CREATE FUNCTION billing_unit_price_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.effective_to IS NULL AND NEW.effective_to IS NOT NULL
        AND (NEW.id, NEW.item, NEW.gpu_model, NEW.gpu_mode, NEW.mig_profile, NEW.number, NEW.rate_fen_per_hour,
             NEW.effective_from)
            = (OLD.id, OLD.item, OLD.gpu_model, OLD.gpu_mode, OLD.mig_profile, OLD.number, OLD.rate_fen_per_hour,
               OLD.effective_from) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a price of the list is not allowed', TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER billing_unit_price_immutable BEFORE UPDATE OR DELETE ON billing_unitprice
    FOR EACH ROW EXECUTE FUNCTION billing_unit_price_immutable();
"""

VERSIONS = """
CREATE OR REPLACE FUNCTION billing_price_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.effective_to IS NULL AND NEW.effective_to IS NOT NULL
        AND NEW.basis IS NOT DISTINCT FROM OLD.basis
        AND (NEW.id, NEW.package_id, NEW.number, NEW.rate_fen_per_hour, NEW.effective_from)
            = (OLD.id, OLD.package_id, OLD.number, OLD.rate_fen_per_hour, OLD.effective_from) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a price version is not allowed', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0020_unit_prices")]

    operations = [
        migrations.RunSQL(
            UNITS,
            "DROP FUNCTION billing_unit_price_follows CASCADE; DROP FUNCTION billing_unit_price_immutable CASCADE",
        ),
        migrations.RunSQL(VERSIONS, migrations.RunSQL.noop),
    ]
