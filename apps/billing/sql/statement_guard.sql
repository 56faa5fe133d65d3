-- A statement changes state as its table allows, is built as a draft only, and is frozen once issued.
CREATE OR REPLACE FUNCTION billing_statement_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.state <> 'draft' THEN
            RAISE EXCEPTION 'a statement begins as a draft' USING ERRCODE = 'check_violation',
                CONSTRAINT = 'statement_begins_as_draft';
        END IF;
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' OR OLD.state = 'issued' THEN
        RAISE EXCEPTION 'a statement stays; issued, it is frozen' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'statement_frozen';
    END IF;
    IF (OLD.id, OLD.organisation_id, OLD.period) IS DISTINCT FROM (NEW.id, NEW.organisation_id, NEW.period)
        OR (OLD.state, NEW.state) NOT IN
            (('draft', 'draft'), ('draft', 'reviewed'), ('reviewed', 'draft'), ('reviewed', 'issued'))
    THEN
        RAISE EXCEPTION 'a statement does not go from % to %', OLD.state, NEW.state
            USING ERRCODE = 'check_violation', CONSTRAINT = 'statement_moves_as_its_table_says';
    END IF;
    IF NEW.state <> 'draft' AND
        (OLD.opening_fen, OLD.closing_fen, OLD.exact_fen, OLD.total_fen, OLD.cash_fen, OLD.voucher_fen,
         OLD.recognised_fen, OLD.received_fen, OLD.built_at, OLD.complete) IS DISTINCT FROM
        (NEW.opening_fen, NEW.closing_fen, NEW.exact_fen, NEW.total_fen, NEW.cash_fen, NEW.voucher_fen,
         NEW.recognised_fen, NEW.received_fen, NEW.built_at, NEW.complete)
    THEN
        RAISE EXCEPTION 'only a draft is built' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'statement_only_draft_is_built';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER billing_statement_guard BEFORE INSERT OR UPDATE OR DELETE ON billing_statement
    FOR EACH ROW EXECUTE FUNCTION billing_statement_guard();
CREATE OR REPLACE TRIGGER billing_statement_no_truncate BEFORE TRUNCATE ON billing_statement
    FOR EACH STATEMENT EXECUTE FUNCTION plstack_append_only();
