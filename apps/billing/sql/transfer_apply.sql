-- Balances follow transfers. The function runs with the owner's rights: nobody else can write a balance.
-- pg_temp is named last, so that a caller's temporary tables cannot stand in for ours.
-- An AFTER trigger, when the row is certain to be in: a BEFORE trigger also runs for a row that ON CONFLICT then drops.
-- The rows that the updates return are the accounts as they are afterwards: nothing is read again.
CREATE OR REPLACE FUNCTION billing_transfer_apply() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    payer billing_account;
    receiver billing_account;
BEGIN
    -- Always the lower id first: two transfers between the same accounts never wait for each other.
    IF NEW.debit_id < NEW.credit_id THEN
        UPDATE billing_account SET balance_fen = balance_fen - NEW.amount_fen
            WHERE id = NEW.debit_id RETURNING * INTO payer;
        UPDATE billing_account SET balance_fen = balance_fen + NEW.amount_fen
            WHERE id = NEW.credit_id RETURNING * INTO receiver;
    ELSE
        UPDATE billing_account SET balance_fen = balance_fen + NEW.amount_fen
            WHERE id = NEW.credit_id RETURNING * INTO receiver;
        UPDATE billing_account SET balance_fen = balance_fen - NEW.amount_fen
            WHERE id = NEW.debit_id RETURNING * INTO payer;
    END IF;
    IF payer.id IS NULL OR receiver.id IS NULL THEN
        RAISE EXCEPTION 'a transfer is between two accounts' USING ERRCODE = 'foreign_key_violation',
            CONSTRAINT = 'transfer_names_accounts';
    ELSIF payer.organisation_id <> receiver.organisation_id
        OR NEW.organisation_id IS DISTINCT FROM COALESCE(payer.organisation_id, receiver.organisation_id) THEN
        RAISE EXCEPTION 'money does not move between organisations' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'transfer_of_one_organisation';
    END IF;
    -- Usage has been consumed already: refusing to charge it would give it away, so it may lead a wallet into arrears.
    -- It is the only kind that may; a voucher never falls below zero (a check of the account).
    IF NEW.kind = 'usage' THEN
        IF payer.kind NOT IN ('cash', 'voucher') OR receiver.kind <> 'revenue' THEN
            RAISE EXCEPTION 'usage is paid by a wallet or a voucher to revenue' USING ERRCODE = 'check_violation',
                CONSTRAINT = 'transfer_usage_to_revenue';
        END IF;
    ELSIF (NEW.kind, payer.kind, receiver.kind) NOT IN (
        ('prepayment', 'cash', 'deferred'), ('prepayment_back', 'deferred', 'cash'),
        ('recognition', 'deferred', 'revenue'), ('voucher_issue', 'promotion', 'voucher'),
        ('voucher_end', 'voucher', 'promotion'), ('fee', 'fees', 'alipay_clearing'), ('write_off', 'write_off', 'cash'),
        ('adjustment', 'revenue', 'cash'), ('adjustment', 'cash', 'revenue')
    ) AND NEW.kind IN (
        'prepayment', 'prepayment_back', 'recognition', 'voucher_issue', 'voucher_end', 'fee', 'write_off', 'adjustment'
    ) THEN
        RAISE EXCEPTION '% does not go from % to %', NEW.kind, payer.kind, receiver.kind
            USING ERRCODE = 'check_violation', CONSTRAINT = 'transfer_goes_where_its_kind_says';
    ELSIF payer.kind = 'cash' AND payer.balance_fen + payer.credit_limit_fen - payer.held_fen < 0 THEN
        RAISE EXCEPTION 'the wallet does not cover this' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'wallet_covers_decisions';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER billing_transfer_apply AFTER INSERT ON billing_transfer
    FOR EACH ROW EXECUTE FUNCTION billing_transfer_apply();
