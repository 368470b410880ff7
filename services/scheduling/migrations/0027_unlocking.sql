-- +goose Up
-- Days can be unlocked. The leave of the locked days then becomes part of the past, like all other data that
-- determines schedules.
ALTER TABLE locked_leave ADD COLUMN believed_from timestamptz NOT NULL DEFAULT '-infinity';
ALTER TABLE locked_leave ALTER COLUMN believed_from SET DEFAULT change_time();
CREATE TABLE locked_leave_past (believed_until timestamptz NOT NULL, LIKE locked_leave, CHECK (believed_until > believed_from))
    PARTITION BY RANGE (believed_until);
-- For rows of months without a partition.
CREATE TABLE locked_leave_past_other PARTITION OF locked_leave_past DEFAULT;
SELECT make_past_month('locked_leave_past', extract(year FROM now())::int, extract(month FROM now())::int);
CREATE INDEX ON locked_leave_past (tenant_id, employee_id, believed_until);
SELECT protect_past('locked_leave_past'), protect_past('locked_leave_past_other');
-- The sweep deletes old rows of all tenants.
CREATE POLICY sweep_read ON locked_leave_past FOR SELECT USING (current_setting('rotaloom.tenant_id', true) = '*');
CREATE POLICY sweep ON locked_leave_past FOR DELETE USING (current_setting('rotaloom.tenant_id', true) = '*');

-- +goose StatementBegin
-- Rows that were inserted by the same transaction were never visible, so they have no past.
CREATE FUNCTION keep_deleted_locked_leave() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE now CONSTANT timestamptz := change_time();
BEGIN
    INSERT INTO locked_leave_past SELECT now, gone.* FROM gone WHERE gone.believed_from < now;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER keep_deleted AFTER DELETE ON locked_leave REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION keep_deleted_locked_leave();
-- +goose StatementBegin
CREATE FUNCTION keep_updated_locked_leave() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.believed_from := change_time();
    IF OLD.believed_from < NEW.believed_from THEN
        INSERT INTO locked_leave_past SELECT NEW.believed_from, OLD.*;
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER keep_updated BEFORE UPDATE ON locked_leave
    FOR EACH ROW EXECUTE FUNCTION keep_updated_locked_leave();
