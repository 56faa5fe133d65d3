-- A hold's end gives its whole amount free again.
CREATE OR REPLACE FUNCTION billing_holdend_apply() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    ended billing_hold;
BEGIN
    SELECT * INTO ended FROM billing_hold WHERE id = NEW.hold_id;
    IF ended.organisation_id IS DISTINCT FROM NEW.organisation_id THEN
        RAISE EXCEPTION 'a hold ends within its organisation' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'hold_end_of_one_organisation';
    END IF;
    UPDATE billing_account SET held_fen = held_fen - ended.amount_fen
        WHERE organisation_id = ended.organisation_id AND kind = 'cash';
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER billing_holdend_apply AFTER INSERT ON billing_holdend
    FOR EACH ROW EXECUTE FUNCTION billing_holdend_apply();
