-- +goose Up
-- Whether a pay code edit replaces the shifts of its days, as approved time off does. The past has its
-- columns in the same order.
ALTER TABLE schedule_item ADD COLUMN covers boolean NOT NULL DEFAULT false;
ALTER TABLE schedule_item_past ADD COLUMN covers boolean NOT NULL DEFAULT false;
CREATE INDEX schedule_item_covers ON schedule_item (tenant_id, employee_id, from_day) WHERE covers;

-- Counts the changes of the covering edits of an employee. Services with copies compare it with theirs to
-- detect missing changes.
CREATE TABLE time_off_head (
    tenant_id   bigint NOT NULL,
    employee_id bigint NOT NULL,
    version     bigint NOT NULL,
    PRIMARY KEY (tenant_id, employee_id)
);

-- Requests for time off. They are kept after the decision.
CREATE TABLE time_off_request (
    tenant_id   bigint      NOT NULL,
    id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    employee_id bigint      NOT NULL,
    -- A value of rotaloom.scheduling.v1.RequestStatus.
    status      bigint      NOT NULL,
    -- The first and the last day of its periods.
    from_day    date        NOT NULL,
    to_day      date        NOT NULL CHECK (to_day >= from_day),
    subtype_id  bigint      NOT NULL,
    version     bigint      NOT NULL DEFAULT 1,
    -- The pay code edits of the request on the schedule.
    item_ids    bigint[]    NOT NULL DEFAULT '{}',
    -- rotaloom.scheduling.v1.TimeOffRequest without the values in columns.
    body        bytea       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX time_off_request_employee ON time_off_request (tenant_id, employee_id, from_day);

SELECT isolate_tenants(isolated, 'subselect_strict')
FROM unnest(ARRAY['time_off_head', 'time_off_request']::regclass[]) AS isolated;
