"""Discounts follow each other; vouchers keep their own sums, pay only what fits, and a run moves what it says."""

from django.db import migrations

from apps.common.append_only import append_only

DISCOUNT = """
CREATE FUNCTION billing_discount_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number > 1 AND NOT EXISTS (
        SELECT 1 FROM billing_discount
        WHERE organisation_id = NEW.organisation_id AND number = NEW.number - 1 AND effective_to <= NEW.effective_from
    ) THEN
        RAISE EXCEPTION 'the former discount is still in force' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'discount_follows';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER billing_discount_follows BEFORE INSERT ON billing_discount
    FOR EACH ROW EXECUTE FUNCTION billing_discount_follows();

-- An end that is still to come may be brought forward, to now at the earliest: what was in force has been in force.
CREATE FUNCTION billing_discount_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE'
        AND (NEW.id, NEW.organisation_id, NEW.number, NEW.off, NEW.effective_from, NEW.note, NEW.made_by,
            NEW.created_at)
        = (OLD.id, OLD.organisation_id, OLD.number, OLD.off, OLD.effective_from, OLD.note, OLD.made_by,
            OLD.created_at)
        AND NEW.effective_to >= now() AND (OLD.effective_to IS NULL OR NEW.effective_to < OLD.effective_to) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a discount is not allowed', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER billing_discount_immutable BEFORE UPDATE OR DELETE ON billing_discount
    FOR EACH ROW EXECUTE FUNCTION billing_discount_immutable();

ALTER TABLE billing_discount ADD CONSTRAINT discount_and_share UNIQUE (id, organisation_id, off);
ALTER TABLE billing_metersession ADD CONSTRAINT session_of_discount
    FOREIGN KEY (discount_id, organisation_id, discount_off) REFERENCES billing_discount (id, organisation_id, off);
"""

VOUCHER = """
ALTER TABLE billing_voucher ADD CONSTRAINT voucher_at_full_hours CHECK (
    date_trunc('hour', valid_from AT TIME ZONE 'UTC') = valid_from AT TIME ZONE 'UTC'
    AND date_trunc('hour', valid_until AT TIME ZONE 'UTC') = valid_until AT TIME ZONE 'UTC'
);

CREATE FUNCTION billing_voucher_starts_full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.left_fen <> NEW.amount_fen OR NEW.used_fen <> 0 OR NEW.covered_exact <> 0 OR NEW.voided_at IS NOT NULL
        OR NOT EXISTS (
            SELECT 1 FROM billing_transfer WHERE id = NEW.transfer_id AND kind = 'voucher_issue'
            AND organisation_id = NEW.organisation_id AND amount_fen = NEW.amount_fen
        ) THEN
        RAISE EXCEPTION 'a voucher starts full, with what was granted' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'voucher_starts_full';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER billing_voucher_starts_full BEFORE INSERT ON billing_voucher
    FOR EACH ROW EXECUTE FUNCTION billing_voucher_starts_full();

CREATE FUNCTION billing_voucher_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE'
        AND (NEW.id, NEW.organisation_id, NEW.amount_fen, NEW.scope, NEW.package_id, NEW.gpu_model, NEW.valid_from,
            NEW.valid_until, NEW.note, NEW.transfer_id, NEW.issued_by, NEW.created_at)
        IS NOT DISTINCT FROM
            (OLD.id, OLD.organisation_id, OLD.amount_fen, OLD.scope, OLD.package_id, OLD.gpu_model, OLD.valid_from,
            OLD.valid_until, OLD.note, OLD.transfer_id, OLD.issued_by, OLD.created_at)
        AND (OLD.voided_at IS NULL OR NEW.voided_at = OLD.voided_at) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% of a voucher is not allowed', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER billing_voucher_immutable BEFORE UPDATE OR DELETE ON billing_voucher
    FOR EACH ROW EXECUTE FUNCTION billing_voucher_immutable();
"""

# pg_temp is named last, so that a caller's temporary tables cannot stand in for ours.
USE = """
CREATE FUNCTION billing_voucheruse_apply() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    spent billing_voucher;
BEGIN
    UPDATE billing_voucher SET used_fen = used_fen + NEW.amount_fen, left_fen = left_fen - NEW.amount_fen,
        covered_exact = covered_exact + NEW.exact_fen WHERE id = NEW.voucher_id RETURNING * INTO spent;
    IF spent.organisation_id <> NEW.organisation_id OR NOT EXISTS (
        SELECT 1 FROM billing_ratingrun WHERE id = NEW.run_id AND organisation_id = NEW.organisation_id
    ) THEN
        RAISE EXCEPTION 'a voucher is used within its organisation' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'voucher_use_of_one_organisation';
    END IF;
    IF NEW.transfer_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM billing_transfer AS moved
            JOIN billing_account AS account
                ON account.id = CASE WHEN NEW.amount_fen > 0 THEN moved.debit_id ELSE moved.credit_id END
        WHERE moved.id = NEW.transfer_id AND moved.amount_fen = abs(NEW.amount_fen)
            AND (moved.kind = 'usage') = (NEW.amount_fen > 0)
            AND account.kind = 'voucher' AND account.organisation_id = NEW.organisation_id
    ) THEN
        RAISE EXCEPTION 'a voucher moves what its use says' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'voucher_use_is_its_transfer';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER billing_voucheruse_apply AFTER INSERT ON billing_voucheruse
    FOR EACH ROW EXECUTE FUNCTION billing_voucheruse_apply();

-- What is given back was covered before, whatever the voucher has become since.
CREATE FUNCTION billing_chargecover_fits() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM billing_charge AS charge
            JOIN billing_voucher AS voucher ON voucher.id = NEW.voucher_id
            JOIN billing_priceversion AS price ON price.id = charge.price_version_id
            JOIN billing_package AS package ON package.id = price.package_id
        WHERE charge.id = NEW.charge_id AND charge.organisation_id = NEW.organisation_id
            AND voucher.organisation_id = NEW.organisation_id
            AND (NEW.exact_fen < 0 AND charge.revision > 0 OR NEW.exact_fen > 0 AND charge.revision = 0
                AND charge.start >= voucher.valid_from AND charge."end" <= voucher.valid_until
                AND CASE voucher.scope
                    WHEN 'everything' THEN true
                    WHEN 'package' THEN package.id = voucher.package_id
                    WHEN 'gpu_model' THEN package.gpu_model = voucher.gpu_model
                    WHEN 'storage' THEN package.resource = 'storage'
                END)
    ) THEN
        RAISE EXCEPTION 'the voucher does not fit this charge' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'cover_fits';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER billing_chargecover_fits BEFORE INSERT ON billing_chargecover
    FOR EACH ROW EXECUTE FUNCTION billing_chargecover_fits();
"""

END = """
CREATE FUNCTION billing_voucherend_apply() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    ended billing_voucher;
BEGIN
    UPDATE billing_voucher SET left_fen = left_fen - NEW.amount_fen WHERE id = NEW.voucher_id RETURNING * INTO ended;
    IF ended.organisation_id <> NEW.organisation_id OR ended.left_fen <> 0
        OR ended.voided_at IS NULL AND ended.valid_until > now()
        OR NOT EXISTS (
            SELECT 1 FROM billing_transfer WHERE id = NEW.transfer_id AND kind = 'voucher_end'
            AND organisation_id = NEW.organisation_id AND amount_fen = NEW.amount_fen
        ) THEN
        RAISE EXCEPTION 'all that is left of a voucher ends, when it is over' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'voucher_end_is_its_transfer';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER billing_voucherend_apply AFTER INSERT ON billing_voucherend
    FOR EACH ROW EXECUTE FUNCTION billing_voucherend_apply();
"""

# At the commit, when the uses of vouchers, which name the run, are there too.
RUN = """
CREATE FUNCTION billing_run_moves() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NEW.voucher_fen <> (SELECT COALESCE(sum(amount_fen), 0) FROM billing_voucheruse WHERE run_id = NEW.id)
        OR NEW.transfer_id IS NOT NULL AND abs(NEW.amount_fen - NEW.voucher_fen) <> (
            SELECT amount_fen FROM billing_transfer WHERE id = NEW.transfer_id
        ) THEN
        RAISE EXCEPTION 'a rating run moves what it says' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'run_moves_its_amount';
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER billing_run_moves AFTER INSERT ON billing_ratingrun
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION billing_run_moves();
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0018_discounts_and_vouchers")]

    operations = [
        migrations.RunSQL(
            DISCOUNT,
            """
            ALTER TABLE billing_metersession DROP CONSTRAINT session_of_discount;
            ALTER TABLE billing_discount DROP CONSTRAINT discount_and_share;
            DROP FUNCTION billing_discount_follows CASCADE; DROP FUNCTION billing_discount_immutable CASCADE;
            """,
        ),
        migrations.RunSQL(
            VOUCHER,
            """
            ALTER TABLE billing_voucher DROP CONSTRAINT voucher_at_full_hours;
            DROP FUNCTION billing_voucher_starts_full CASCADE; DROP FUNCTION billing_voucher_immutable CASCADE;
            """,
        ),
        migrations.RunSQL(
            USE, "DROP FUNCTION billing_voucheruse_apply CASCADE; DROP FUNCTION billing_chargecover_fits CASCADE"
        ),
        migrations.RunSQL(END, "DROP FUNCTION billing_voucherend_apply CASCADE"),
        migrations.RunSQL(RUN, "DROP FUNCTION billing_run_moves CASCADE"),
        append_only("billing_voucheruse"),
        append_only("billing_chargecover"),
        append_only("billing_voucherend"),
    ]
