-- Sums of a statement's new charges at once, whether they come by INSERT or COPY. Keys are taken in one order, so that
-- two raters never wait for each other in a circle; those of one organisation stand behind its wallet's lock anyway.
-- The month of a bill is one of settings.BILLING_TIME_ZONE.
CREATE OR REPLACE FUNCTION billing_charge_sums() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO billing_sessionday AS kept
        (session_id, day, organisation_id, price_version_id, charges, seconds, exact_fen, voucher_exact, amount_fen,
        start, "end")
    SELECT session_id, day, organisation_id, price_version_id, count(*), sum(seconds), sum(exact_fen),
        sum(voucher_exact), sum(amount_fen), min(start), max("end")
    FROM added GROUP BY session_id, day, organisation_id, price_version_id ORDER BY session_id, day
    ON CONFLICT (session_id, day) DO UPDATE SET
        charges = kept.charges + excluded.charges, seconds = kept.seconds + excluded.seconds,
        exact_fen = kept.exact_fen + excluded.exact_fen, voucher_exact = kept.voucher_exact + excluded.voucher_exact,
        amount_fen = kept.amount_fen + excluded.amount_fen,
        start = least(kept.start, excluded.start), "end" = greatest(kept."end", excluded."end");

    INSERT INTO billing_daysum AS kept
        (organisation_id, billed, day, price_version_id, discount_off, revision, charges, seconds, replica_seconds,
        exact_fen, voucher_exact, amount_fen)
    SELECT charge.organisation_id, to_char(run.at AT TIME ZONE 'Asia/Shanghai', 'YYYY-MM') AS billed, day,
        price_version_id, discount_off, revision, count(*), sum(seconds), sum(seconds * (replicas - covered)),
        sum(charge.exact_fen), sum(voucher_exact), sum(charge.amount_fen)
    FROM added AS charge JOIN billing_ratingrun AS run ON run.id = charge.run_id
    GROUP BY charge.organisation_id, billed, day, price_version_id, discount_off, revision
    ORDER BY charge.organisation_id, billed, day, price_version_id, discount_off, revision
    ON CONFLICT (organisation_id, billed, day, price_version_id, discount_off, revision) DO UPDATE SET
        charges = kept.charges + excluded.charges, seconds = kept.seconds + excluded.seconds,
        replica_seconds = kept.replica_seconds + excluded.replica_seconds,
        exact_fen = kept.exact_fen + excluded.exact_fen, voucher_exact = kept.voucher_exact + excluded.voucher_exact,
        amount_fen = kept.amount_fen + excluded.amount_fen;

    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER billing_charge_sums AFTER INSERT ON billing_charge
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION billing_charge_sums();
