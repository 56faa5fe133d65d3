-- A closed session stays closed, and proven time is not taken back.
CREATE OR REPLACE FUNCTION billing_session_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.closed_at IS NOT NULL AND NEW.closed_at IS DISTINCT FROM OLD.closed_at THEN
        RAISE EXCEPTION 'a closed session stays closed' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'session_stays_closed';
    END IF;
    -- The end that a node reports may lie before the last proof; nothing else takes time back.
    IF NEW.proven_until < OLD.proven_until AND (OLD.closed_at IS NOT NULL OR NEW.closed_at IS NULL) THEN
        RAISE EXCEPTION 'proven time is not taken back' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'session_proof_grows';
    END IF;
    IF OLD.settled AND NOT NEW.settled THEN
        RAISE EXCEPTION 'a settled session stays settled' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'session_stays_settled';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER billing_session_moves_on BEFORE UPDATE ON billing_metersession
    FOR EACH ROW EXECUTE FUNCTION billing_session_moves_on();
