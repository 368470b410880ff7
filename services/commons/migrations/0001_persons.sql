-- +goose Up
-- Persons, and their effective-dated data. Ids stay below 2^25, because other services pack them into their
-- own ids.

CREATE SEQUENCE person_id MAXVALUE 33554431;

CREATE TABLE person (
    tenant_id     bigint      NOT NULL,
    id            bigint      NOT NULL,
    person_number text        NOT NULL,
    full_name     text        NOT NULL,
    -- IANA name.
    time_zone     text        NOT NULL,
    hire_date     date,
    -- Increases with every change; the version of the person's events.
    version       bigint      NOT NULL DEFAULT 1,
    -- rotaloom.commons.v1.Person without the data of the tables below, and without a password.
    body          bytea       NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX person_number ON person (tenant_id, person_number);

-- Persons whose user accounts are being created. A row is written before the call to auth, and deleted by the
-- transaction that creates the persons. Rows that remain after a crash identify accounts without a person.
CREATE TABLE account_intent (
    tenant_id  bigint      NOT NULL,
    person_id  bigint      NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, person_id)
);
CREATE INDEX account_intent_age ON account_intent (created_at);

-- In all tables below: the first day, and the day after the last.

CREATE TABLE employment_status (
    tenant_id bigint NOT NULL,
    person_id bigint NOT NULL,
    from_date date   NOT NULL,
    to_date   date   NOT NULL CHECK (to_date > from_date),
    -- Active, Inactive or Terminated.
    status    text   NOT NULL,
    PRIMARY KEY (tenant_id, person_id, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE user_account_status (
    tenant_id bigint NOT NULL,
    person_id bigint NOT NULL,
    from_date date   NOT NULL,
    to_date   date   NOT NULL CHECK (to_date > from_date),
    -- Active, Inactive or Terminated.
    status    text   NOT NULL,
    PRIMARY KEY (tenant_id, person_id, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE primary_labor_account (
    tenant_id           bigint NOT NULL,
    person_id           bigint NOT NULL,
    from_date           date   NOT NULL,
    to_date             date   NOT NULL CHECK (to_date > from_date),
    organization_path   text   NOT NULL,
    labor_category_name text   NOT NULL,
    PRIMARY KEY (tenant_id, person_id, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX primary_labor_account_path ON primary_labor_account (tenant_id, organization_path);

CREATE TABLE base_wage_rate (
    tenant_id   bigint           NOT NULL,
    person_id   bigint           NOT NULL,
    from_date   date             NOT NULL,
    to_date     date             NOT NULL CHECK (to_date > from_date),
    hourly_rate double precision NOT NULL,
    PRIMARY KEY (tenant_id, person_id, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);

-- A person may carry several badges at a time.
CREATE TABLE badge_assignment (
    tenant_id    bigint NOT NULL,
    person_id    bigint NOT NULL,
    badge_number text   NOT NULL,
    from_date    date   NOT NULL,
    to_date      date   NOT NULL CHECK (to_date > from_date),
    PRIMARY KEY (tenant_id, person_id, badge_number, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX badge_assignment_number ON badge_assignment (tenant_id, badge_number);

SELECT isolate_tenants(isolated, 'inline_strict')
FROM unnest(ARRAY['person', 'employment_status', 'user_account_status',
    'primary_labor_account', 'base_wage_rate', 'badge_assignment']::regclass[]) AS isolated;

-- The sweep looks for old intents of all tenants.
SELECT isolate_tenants('account_intent', 'text');
CREATE POLICY sweep ON account_intent FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');
