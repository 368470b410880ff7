-- +goose Up
-- The last time of a change in each tenant. All changes of a tenant wait for its row, so they commit in the order of
-- their times, and a reader that continues after the last time it saw misses nothing.
CREATE TABLE change_counter (
    tenant_id bigint NOT NULL PRIMARY KEY,
    -- Microseconds since 1970-01-01T00:00:00Z.
    changed   bigint NOT NULL
);
SELECT isolate_tenants('change_counter');
