-- +goose Up
-- Timekeeping owns requests for time off and their subtypes, and tells scheduling which pay
-- code edits a request has on the schedule.
DROP TABLE time_off_request, request_subtype, request_subtype_seed;

-- The pay code edits that requests for time off have put on schedules. A row stays when it
-- has none any more: its version refuses what comes late.
CREATE TABLE time_off_edit (
    tenant_id   bigint   NOT NULL,
    request_id  bigint   NOT NULL,
    employee_id bigint   NOT NULL,
    -- Of the request, as timekeeping has sent it last.
    version     bigint   NOT NULL,
    -- The items of the schedule, some of which people may have deleted since.
    item_ids    bigint[] NOT NULL,
    -- Of the pay code edits as they were sent.
    digest      bytea    NOT NULL,
    PRIMARY KEY (tenant_id, request_id)
);
ALTER TABLE time_off_edit ENABLE ROW LEVEL SECURITY;
ALTER TABLE time_off_edit FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON time_off_edit USING (tenant_id = (SELECT nullif(current_setting('rotaloom.tenant_id', true), '')::bigint));
