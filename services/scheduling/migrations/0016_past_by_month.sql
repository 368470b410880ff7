-- +goose Up
-- The past of entries, locks, memberships and leave is in partitions by month, as the past of spans is, and
-- is deleted with them.
ALTER FUNCTION protect_span_past(text) RENAME TO protect_past;
DROP FUNCTION make_span_past_month(int, int);

-- +goose StatementBegin
-- Creates the partition of a past for a month of UTC if it does not exist.
CREATE FUNCTION make_past_month(past text, year int, month int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name CONSTANT text := format('%s_%s%s', past, to_char(year, 'FM0000'), to_char(month, 'FM00'));
BEGIN
    IF to_regclass(name) IS NULL THEN
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', name, past,
            format('%s-%s-01T00:00:00Z', year, month),
            format('%s-%s-01T00:00:00Z', year + month / 12, month % 12 + 1));
        PERFORM protect_past(name);
    END IF;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $do$
DECLARE past text;
BEGIN
    FOREACH past IN ARRAY ARRAY['schedule_item_past', 'day_lock_past', 'membership_past', 'leave_edit_past'] LOOP
        EXECUTE format('ALTER TABLE %I RENAME TO former_past', past);
        EXECUTE format('CREATE TABLE %I (LIKE former_past INCLUDING CONSTRAINTS) PARTITION BY RANGE (believed_until)', past);
        -- Holds what no month was made for in time.
        EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', past || '_other', past);
        PERFORM make_past_month(past, extract(year FROM now())::int, extract(month FROM now())::int);
        ALTER TABLE former_past NO FORCE ROW LEVEL SECURITY;
        EXECUTE format('INSERT INTO %I SELECT * FROM former_past', past);
        DROP TABLE former_past;
        EXECUTE format('CREATE INDEX ON %I (tenant_id, employee_id, believed_until)', past);
        PERFORM protect_past(past), protect_past(past || '_other');
        -- The sweep takes what is too old away, of all tenants.
        EXECUTE format($p$CREATE POLICY sweep_read ON %I FOR SELECT USING (current_setting('rotaloom.tenant_id', true) = '*')$p$, past);
        EXECUTE format($p$CREATE POLICY sweep ON %I FOR DELETE USING (current_setting('rotaloom.tenant_id', true) = '*')$p$, past);
    END LOOP;
END $do$;
-- +goose StatementEnd

-- For finding the generated entries of an employee that were hidden at a time. An entry that was moved to
-- another employee is still hidden.
CREATE INDEX schedule_item_past_hides ON schedule_item_past (tenant_id, hides_employee_id, believed_until)
    WHERE hides_employee_id IS NOT NULL;
