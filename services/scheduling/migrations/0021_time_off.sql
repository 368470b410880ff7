-- +goose Up
-- Whether a pay code edit takes the shifts of its days from the schedule, as
-- approved time off does. The past has its columns in the same order.
ALTER TABLE schedule_item ADD COLUMN covers boolean NOT NULL DEFAULT false;
ALTER TABLE schedule_item_past ADD COLUMN covers boolean NOT NULL DEFAULT false;
CREATE INDEX schedule_item_covers ON schedule_item (tenant_id, employee_id, from_day) WHERE covers;

-- How often the covering edits of an employee were changed: those who keep a copy of
-- what leave takes find out by it whether theirs is the newest.
CREATE TABLE time_off_head (
    tenant_id   bigint NOT NULL,
    employee_id bigint NOT NULL,
    version     bigint NOT NULL,
    PRIMARY KEY (tenant_id, employee_id)
);

-- Requests for time off. They stay when they are decided.
CREATE TABLE time_off_request (
    tenant_id   bigint      NOT NULL,
    id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    employee_id bigint      NOT NULL,
    -- Of rotaloom.scheduling.v1.RequestStatus.
    status      bigint      NOT NULL,
    -- The first and the last day of its periods.
    from_day    date        NOT NULL,
    to_day      date        NOT NULL CHECK (to_day >= from_day),
    subtype_id  bigint      NOT NULL,
    version     bigint      NOT NULL DEFAULT 1,
    -- The pay code edits that it has put on the schedule.
    item_ids    bigint[]    NOT NULL DEFAULT '{}',
    -- rotaloom.scheduling.v1.TimeOffRequest without what columns hold.
    body        bytea       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX time_off_request_employee ON time_off_request (tenant_id, employee_id, from_day);

-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['time_off_head', 'time_off_request'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format($p$CREATE POLICY tenant ON %I USING
            (tenant_id = (SELECT nullif(current_setting('rotaloom.tenant_id', true), '')::bigint))$p$, name);
    END LOOP;
END $$;
-- +goose StatementEnd
