-- +goose Up
-- The clock time of changes whose number is ahead of the clock, because the clock was ahead once and was
-- corrected. Numbers continue from the largest one, so that they keep the order of commits; this table says
-- which of them had been drawn at a time. It is empty as long as the clock is never set back.
CREATE TABLE corrected_clock (
    -- Microseconds since 1970, as change_revision() returns them.
    revision bigint      NOT NULL PRIMARY KEY,
    showed   timestamptz NOT NULL
);
CREATE INDEX corrected_clock_showed ON corrected_clock (showed, revision);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION draw_change_revision() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    latch CONSTANT bigint := hashtextextended('schedule_revision', 0);
    shown timestamptz;
    drawn bigint;
BEGIN
    -- Who holds the latch waits for nothing, and holds it for microseconds.
    BEGIN
        PERFORM pg_advisory_lock(latch);
        shown := clock_timestamp();
        drawn := setval('schedule_revision',
            greatest(nextval('schedule_revision'), (extract(epoch FROM shown) * 1000000)::bigint));
        -- Until the transaction ends, settled_time() sees what it has drawn.
        PERFORM pg_advisory_xact_lock_shared(drawn);
        PERFORM pg_advisory_unlock(latch);
    EXCEPTION WHEN OTHERS OR query_canceled THEN
        PERFORM pg_advisory_unlock(latch);
        RAISE;
    END;
    -- Changes that come within microseconds are some numbers ahead as well.
    IF drawn > (extract(epoch FROM shown) * 1000000)::bigint + 10000 THEN
        INSERT INTO corrected_clock VALUES (drawn, shown);
    END IF;
    PERFORM set_config('rotaloom.change_revision', drawn::text, true);
    RETURN drawn;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- The last instant whose past cannot change, and that has all changes that were committed when the clock
-- showed a time; NULL, or a future time, for all changes. In addition, the current clock time. A time within
-- the last minute counts as the current time.
CREATE FUNCTION settled_until(asked timestamptz, OUT instant timestamptz, OUT shown timestamptz) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    settled CONSTANT timestamptz := settled_time();
    latest  CONSTANT bigint := (SELECT last_value FROM schedule_revision);
    ahead   boolean;
    reached bigint;
BEGIN
    shown := clock_timestamp();
    ahead := latest > (extract(epoch FROM shown) * 1000000)::bigint + 10000;
    IF ahead THEN
        INSERT INTO corrected_clock VALUES (latest, shown) ON CONFLICT DO NOTHING;
    END IF;
    IF asked IS NULL OR asked >= shown OR ahead AND asked >= shown - interval '1 minute' THEN
        instant := settled;
        RETURN;
    END IF;
    SELECT c.revision INTO reached FROM corrected_clock c WHERE c.showed <= asked ORDER BY c.showed DESC, c.revision DESC LIMIT 1;
    instant := least(settled, greatest(asked, 'epoch'::timestamptz + coalesce(reached, 0) * interval '1 microsecond'));
END $$;
-- +goose StatementEnd
