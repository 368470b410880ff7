-- +goose Up
-- Timekeeping owns requests for time off and their subtypes, and sends to scheduling the pay code edits of a
-- request.
DROP TABLE time_off_request, request_subtype, request_subtype_seed;

-- The pay code edits of requests for time off on schedules. A row is kept when it has no pay code edits: its
-- version refuses older versions that arrive late.
CREATE TABLE time_off_edit (
    tenant_id   bigint   NOT NULL,
    request_id  bigint   NOT NULL,
    employee_id bigint   NOT NULL,
    -- The version of the request that timekeeping sent last.
    version     bigint   NOT NULL,
    -- The items of the schedule. Users may have deleted some of them since.
    item_ids    bigint[] NOT NULL,
    -- The digest of the pay code edits as they were sent.
    digest      bytea    NOT NULL,
    PRIMARY KEY (tenant_id, request_id)
);
SELECT isolate_tenants('time_off_edit', 'subselect_strict');
