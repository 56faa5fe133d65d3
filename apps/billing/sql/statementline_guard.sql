-- Lines are written while their statement is a draft, and rewritten as a whole.
CREATE OR REPLACE FUNCTION billing_statementline_guard() RETURNS trigger LANGUAGE plpgsql
    SET search_path = public, pg_temp AS $$
DECLARE
    line billing_statementline;
    owner billing_statement;
BEGIN
    line := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
    SELECT * INTO owner FROM billing_statement WHERE id = line.statement_id;
    IF TG_OP = 'UPDATE' OR owner.state <> 'draft' THEN
        RAISE EXCEPTION 'only a draft''s lines are written anew' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'statement_line_frozen';
    END IF;
    IF owner.organisation_id <> line.organisation_id THEN
        RAISE EXCEPTION 'a line belongs to its statement''s organisation' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'statement_line_of_owner';
    END IF;
    RETURN line;
END $$;

CREATE OR REPLACE TRIGGER billing_statementline_guard BEFORE INSERT OR UPDATE OR DELETE ON billing_statementline
    FOR EACH ROW EXECUTE FUNCTION billing_statementline_guard();
CREATE OR REPLACE TRIGGER billing_statementline_no_truncate BEFORE TRUNCATE ON billing_statementline
    FOR EACH STATEMENT EXECUTE FUNCTION plstack_append_only();
