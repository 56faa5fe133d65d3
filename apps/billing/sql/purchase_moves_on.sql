-- What was earned or given back is never taken back; what was paid for stays what it was.
CREATE OR REPLACE FUNCTION billing_purchase_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.recognised_fen < OLD.recognised_fen OR NEW.recognised_days < OLD.recognised_days
        OR NEW.returned_fen < OLD.returned_fen OR (OLD.cut_at IS NOT NULL AND NEW.cut_at IS DISTINCT FROM OLD.cut_at)
        OR (NEW.amount_fen, NEW.starts_at, NEW.ends_at, NEW.order_id, NEW.price_id, NEW.list_fen, NEW.discount_id,
            NEW.discount_off)
        IS DISTINCT FROM (OLD.amount_fen, OLD.starts_at, OLD.ends_at, OLD.order_id, OLD.price_id, OLD.list_fen,
            OLD.discount_id, OLD.discount_off) THEN
        RAISE EXCEPTION 'a purchase only moves on' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'prepaid_purchase_moves_on';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER billing_purchase_moves_on BEFORE UPDATE ON billing_prepaidpurchase
    FOR EACH ROW EXECUTE FUNCTION billing_purchase_moves_on();
