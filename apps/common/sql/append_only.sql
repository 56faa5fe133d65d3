-- Refuses whatever does more than add rows. migration_operations.append_only makes the triggers of each table.
CREATE OR REPLACE FUNCTION plstack_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is not allowed: rows are append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
