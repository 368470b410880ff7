-- +goose Up
-- Punches of employees, and the results of signed-off days. Days that are not signed off are calculated when
-- they are read.

-- Pay rules; bodies are rotaloom.timekeeping.v1.PayRule without id and version.
CREATE TABLE pay_rule (
    tenant_id  bigint      NOT NULL,
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX pay_rule_name ON pay_rule (tenant_id, lower(name));

-- A change of the timecard of an employee locks this row first.
CREATE TABLE timecard_head (
    tenant_id          bigint NOT NULL,
    employee_id        bigint NOT NULL,
    -- The last day that is signed off.
    signed_off_through date,
    -- The first punch time of open days.
    open_from          timestamptz,
    signed_off_at      timestamptz,
    signed_off_by      text   NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, employee_id)
);

CREATE TABLE punch (
    tenant_id    bigint      NOT NULL,
    id           bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    employee_id  bigint      NOT NULL,
    at           timestamptz NOT NULL,
    -- The IANA name of the time zone of the punch.
    time_zone    text        NOT NULL,
    -- 0: determined by the punches before it; 1: in; 2: out.
    direction    smallint    NOT NULL,
    is_transfer  boolean     NOT NULL,
    -- The path of the job; '' for the primary job; U+0001 with an id if only the id of the job is known.
    job          text        NOT NULL,
    work_rule_id bigint,
    work_rule    text        NOT NULL,
    no_deduction boolean     NOT NULL,
    -- rotaloom.timekeeping.v1.Punch without the values in columns.
    body         bytea       NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    -- A punch that is sent again is the same punch.
    CONSTRAINT punch_once UNIQUE (tenant_id, employee_id, at)
);

-- Amounts that users entered on timecards.
CREATE TABLE timecard_edit (
    tenant_id   bigint      NOT NULL,
    id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    employee_id bigint      NOT NULL,
    apply_date  date        NOT NULL,
    -- rotaloom.timekeeping.v1.TimecardPayCodeEdit without the values in columns.
    body        bytea       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX timecard_edit_day ON timecard_edit (tenant_id, employee_id, apply_date);

SELECT isolate_tenants(isolated, 'subselect_strict')
FROM unnest(ARRAY['pay_rule', 'timecard_head', 'punch', 'timecard_edit']::regclass[]) AS isolated;
