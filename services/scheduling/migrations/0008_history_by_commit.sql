-- +goose Up
-- History in the order of commits. A transaction that changes the schedules of employees has one change time.
-- The first row that the transaction writes draws it, under the locks of these employees. It is later than
-- every change time drawn before, even if the clock was set back or two times were drawn within a
-- microsecond. So an employee's changes have the order of their commits, and believed_from has the same
-- order.

-- +goose StatementBegin
-- As a number, it is the revision in events: microseconds since 1970.
CREATE FUNCTION draw_change_revision() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    latch CONSTANT bigint := hashtextextended('schedule_revision', 0);
    drawn bigint;
BEGIN
    -- Who holds the latch waits for nothing, and holds it for microseconds.
    BEGIN
        PERFORM pg_advisory_lock(latch);
        drawn := setval('schedule_revision',
            greatest(nextval('schedule_revision'), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint));
        -- Until the transaction ends, settled_time() sees what it has drawn.
        PERFORM pg_advisory_xact_lock_shared(drawn);
        PERFORM pg_advisory_unlock(latch);
    EXCEPTION WHEN OTHERS OR query_canceled THEN
        PERFORM pg_advisory_unlock(latch);
        RAISE;
    END;
    PERFORM set_config('rotaloom.change_revision', drawn::text, true);
    RETURN drawn;
END $$;
-- +goose StatementEnd

-- The revision of the transaction's change. The planner inlines the function.
CREATE FUNCTION change_revision() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT coalesce(nullif(current_setting('rotaloom.change_revision', true), '')::bigint, draw_change_revision()) $$;

-- The same as a time.
CREATE FUNCTION change_time() RETURNS timestamptz LANGUAGE sql VOLATILE AS
    $$ SELECT 'epoch'::timestamptz + change_revision() * interval '1 microsecond' $$;

-- +goose StatementBegin
-- The last instant whose past cannot change: transactions that are not committed yet, or not begun, have a
-- later instant.
CREATE FUNCTION settled_time() RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    latch CONSTANT bigint := hashtextextended('schedule_revision', 0);
    latest bigint;
    settled bigint;
BEGIN
    BEGIN
        PERFORM pg_advisory_lock(latch);
        latest := setval('schedule_revision',
            greatest(nextval('schedule_revision'), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint));
        SELECT coalesce(min(key) - 1, latest) INTO settled FROM (
            SELECT classid::bigint << 32 | objid::bigint AS key FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock' AND granted
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        ) AS open;
        PERFORM pg_advisory_unlock(latch);
    EXCEPTION WHEN OTHERS OR query_canceled THEN
        PERFORM pg_advisory_unlock(latch);
        RAISE;
    END;
    RETURN 'epoch'::timestamptz + settled * interval '1 microsecond';
END $$;
-- +goose StatementEnd

ALTER TABLE pattern_assignment ALTER COLUMN believed_from SET DEFAULT change_time();
ALTER TABLE span ALTER COLUMN believed_from SET DEFAULT change_time();
ALTER TABLE span_past ALTER COLUMN believed_until SET DEFAULT change_time();
-- Older versions of the program did not keep the order.
ALTER TABLE span_past ADD CHECK (believed_until > believed_from) NOT VALID;

-- +goose StatementBegin
-- Other tables that determine schedules also keep their past. The table of the past has the same columns
-- after believed_until: a migration that adds a column to one must add it to the other. Existing rows are
-- believed from the beginning.
DO $do$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['schedule_item', 'day_lock', 'membership', 'leave_edit'] LOOP
        EXECUTE format($s$ALTER TABLE %I ADD COLUMN believed_from timestamptz NOT NULL DEFAULT '-infinity'$s$, name);
        EXECUTE format('ALTER TABLE %I ALTER COLUMN believed_from SET DEFAULT change_time()', name);
        EXECUTE format('CREATE TABLE %I (believed_until timestamptz NOT NULL, LIKE %I, CHECK (believed_until > believed_from))',
            name || '_past', name);
        EXECUTE format('CREATE INDEX ON %I (tenant_id, employee_id, believed_until)', name || '_past');
        PERFORM isolate_tenants((name || '_past')::regclass, 'subselect_strict');

        -- What a transaction wrote itself was never believed by anybody else.
        EXECUTE format($s$
            CREATE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $f$
            DECLARE now CONSTANT timestamptz := change_time();
            BEGIN
                INSERT INTO %I SELECT now, gone.* FROM gone WHERE gone.believed_from < now;
                RETURN NULL;
            END $f$ $s$, 'keep_deleted_' || name, name || '_past');
        EXECUTE format('CREATE TRIGGER keep_deleted AFTER DELETE ON %I REFERENCING OLD TABLE AS gone
            FOR EACH STATEMENT EXECUTE FUNCTION %I()', name, 'keep_deleted_' || name);
        EXECUTE format($s$
            CREATE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $f$
            BEGIN
                NEW.believed_from := change_time();
                IF OLD.believed_from < NEW.believed_from THEN
                    INSERT INTO %I SELECT NEW.believed_from, OLD.*;
                END IF;
                RETURN NEW;
            END $f$ $s$, 'keep_updated_' || name, name || '_past');
        EXECUTE format('CREATE TRIGGER keep_updated BEFORE UPDATE ON %I
            FOR EACH ROW EXECUTE FUNCTION %I()', name, 'keep_updated_' || name);
    END LOOP;
END $do$;
-- +goose StatementEnd

-- The position of a hidden entry follows from the spans and is written with them: it is part of the past of
-- spans, not of the item.
DROP TRIGGER keep_updated ON schedule_item;
CREATE TRIGGER keep_updated BEFORE UPDATE OF employee_id, kind, from_day, to_day, hides_day, deleted, version, body ON schedule_item
    FOR EACH ROW EXECUTE FUNCTION keep_updated_schedule_item();
