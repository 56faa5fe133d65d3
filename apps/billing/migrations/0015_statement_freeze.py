"""A statement changes state as its table allows, keeps its lines unless it is a draft, and is frozen once issued."""

from django.db import migrations

from apps.common.append_only import FUNCTION

STATEMENT = """
CREATE FUNCTION billing_statement_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
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

CREATE TRIGGER billing_statement_guard BEFORE INSERT OR UPDATE OR DELETE ON billing_statement
    FOR EACH ROW EXECUTE FUNCTION billing_statement_guard();
CREATE TRIGGER billing_statement_no_truncate BEFORE TRUNCATE ON billing_statement
    FOR EACH STATEMENT EXECUTE FUNCTION plstack_append_only();
"""

LINE = """
CREATE FUNCTION billing_statementline_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
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

CREATE TRIGGER billing_statementline_guard BEFORE INSERT OR UPDATE OR DELETE ON billing_statementline
    FOR EACH ROW EXECUTE FUNCTION billing_statementline_guard();
CREATE TRIGGER billing_statementline_no_truncate BEFORE TRUNCATE ON billing_statementline
    FOR EACH STATEMENT EXECUTE FUNCTION plstack_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0014_alipay_bills")]

    operations = [
        migrations.RunSQL(
            FUNCTION + STATEMENT,
            """
            DROP TRIGGER billing_statement_guard ON billing_statement;
            DROP TRIGGER billing_statement_no_truncate ON billing_statement;
            DROP FUNCTION billing_statement_guard();
            """,
        ),
        migrations.RunSQL(
            LINE,
            """
            DROP TRIGGER billing_statementline_guard ON billing_statementline;
            DROP TRIGGER billing_statementline_no_truncate ON billing_statementline;
            DROP FUNCTION billing_statementline_guard();
            """,
        ),
    ]
