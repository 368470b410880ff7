-- +goose Up
-- Signed-off timecards: their contents, the last signed-off day, and later changes.

ALTER TABLE timecard_edit
    ADD COLUMN seconds bigint NOT NULL DEFAULT 0,
    -- In ten-thousandths.
    ADD COLUMN days    bigint NOT NULL DEFAULT 0,
    ADD COLUMN money   bigint NOT NULL DEFAULT 0;

ALTER TABLE timecard_head
    DROP COLUMN signed_off_through, DROP COLUMN open_from, DROP COLUMN signed_off_at, DROP COLUMN signed_off_by;

-- All days from the day after the previous sign-off to this one.
CREATE TABLE timecard_signoff (
    tenant_id   bigint      NOT NULL,
    employee_id bigint      NOT NULL,
    through     date        NOT NULL,
    -- The first punch time of days after the sign-off.
    open_from   timestamptz NOT NULL,
    signed_by   text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, employee_id, through)
);

CREATE TABLE signed_day (
    tenant_id    bigint NOT NULL,
    employee_id  bigint NOT NULL,
    day          date   NOT NULL,
    -- Worked time that counts towards overtime.
    worked       bigint NOT NULL,
    week         bigint NOT NULL,
    -- rotaloom.timekeeping.v1.TimecardDay.
    body         bytea  NOT NULL,
    PRIMARY KEY (tenant_id, employee_id, day)
);

CREATE TABLE historical_correction (
    tenant_id       bigint      NOT NULL,
    id              bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    employee_id     bigint      NOT NULL,
    historical_date date        NOT NULL,
    apply_date      date        NOT NULL,
    pay_code_id     bigint      NOT NULL,
    pay_code        text        NOT NULL,
    job             text        NOT NULL,
    seconds         bigint      NOT NULL,
    days            bigint      NOT NULL,
    money           bigint      NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX historical_correction_apply ON historical_correction (tenant_id, employee_id, apply_date);
CREATE INDEX historical_correction_day ON historical_correction (tenant_id, employee_id, historical_date);

SELECT isolate_tenants(isolated, 'subselect_strict')
FROM unnest(ARRAY['timecard_signoff', 'signed_day', 'historical_correction']::regclass[]) AS isolated;
