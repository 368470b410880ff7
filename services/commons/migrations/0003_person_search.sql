-- +goose Up
-- Searchable data of persons, in columns and rows instead of the body.

-- For the exclusion constraints. The extension is trusted: the owner of the database may create it.
CREATE EXTENSION IF NOT EXISTS btree_gist;

-- Values that are not effective-dated. Empty text and NULL mean that the value is unknown. In rows with
-- layout 1, these values are not in the body. Rows with layout 0 are from before this migration and have all
-- values in the body.
ALTER TABLE person
    ADD COLUMN layout                    smallint NOT NULL DEFAULT 0,
    ADD COLUMN first_name                text     NOT NULL DEFAULT '',
    ADD COLUMN last_name                 text     NOT NULL DEFAULT '',
    ADD COLUMN middle_initial            text     NOT NULL DEFAULT '',
    ADD COLUMN short_name                text     NOT NULL DEFAULT '',
    ADD COLUMN birth_date                date,
    ADD COLUMN seniority_rank_date       date,
    ADD COLUMN worker_type_name          text     NOT NULL DEFAULT '',
    -- The person number of the manager. A person with this number need not exist yet.
    ADD COLUMN supervisor_person_number  text     NOT NULL DEFAULT '',
    ADD COLUMN schedule_group_name       text     NOT NULL DEFAULT '',
    ADD COLUMN device_group_name         text     NOT NULL DEFAULT '',
    -- Empty without a user account, which auth keeps.
    ADD COLUMN user_name                 text     NOT NULL DEFAULT '',
    ADD COLUMN logon_profile_name        text     NOT NULL DEFAULT '',
    ADD COLUMN access_profile_name       text     NOT NULL DEFAULT '',
    ADD COLUMN preference_profile_name   text     NOT NULL DEFAULT '',
    ADD COLUMN notification_profile_name text     NOT NULL DEFAULT '',
    ADD COLUMN locale_policy_name        text     NOT NULL DEFAULT '',
    ADD COLUMN delegate_profile_name     text     NOT NULL DEFAULT '',
    -- A pair of names from another system.
    ADD COLUMN aoid                      text     NOT NULL DEFAULT '',
    ADD COLUMN coid                      text     NOT NULL DEFAULT '';

-- A column, because row-level security prevents the use of an index on an expression: lower() is not declared
-- leakproof.
ALTER TABLE person ADD COLUMN user_name_key text GENERATED ALWAYS AS (lower(user_name)) STORED;
CREATE INDEX person_hire_date  ON person (tenant_id, hire_date);
CREATE INDEX person_worker_type ON person (tenant_id, worker_type_name) WHERE worker_type_name <> '';
CREATE INDEX person_supervisor ON person (tenant_id, supervisor_person_number) WHERE supervisor_person_number <> '';
CREATE INDEX person_user_name  ON person (tenant_id, user_name_key) WHERE user_name_key <> '';
CREATE UNIQUE INDEX person_aoid ON person (tenant_id, aoid, coid) WHERE aoid <> '';

-- In all tables with dates: the first day, and the day after the last.

CREATE TABLE pay_rule_assignment (
    tenant_id     bigint NOT NULL,
    person_id     bigint NOT NULL,
    from_date     date   NOT NULL,
    to_date       date   NOT NULL CHECK (to_date > from_date),
    pay_rule_name text   NOT NULL,
    PRIMARY KEY (tenant_id, person_id, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE time_entry_method (
    tenant_id                bigint NOT NULL,
    person_id                bigint NOT NULL,
    from_date                date   NOT NULL,
    to_date                  date   NOT NULL CHECK (to_date > from_date),
    time_entry_type_name     text   NOT NULL,
    activity_tracking_status text   NOT NULL,
    PRIMARY KEY (tenant_id, person_id, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);

-- The employees whom a person may see and the jobs that they may be transferred to.
CREATE TABLE person_access_assignment (
    tenant_id                               bigint NOT NULL,
    person_id                               bigint NOT NULL,
    from_date                               date   NOT NULL,
    to_date                                 date   NOT NULL CHECK (to_date > from_date),
    home_hyper_find_query_name              text   NOT NULL,
    manager_employee_group_name             text   NOT NULL,
    manager_transfer_set_name               text   NOT NULL,
    manager_transfer_set_from               date,
    manager_transfer_set_to                 date,
    professional_transfer_set_name          text   NOT NULL,
    professional_transfer_set_from          date,
    professional_transfer_set_to            date,
    emp_mgr_transfer_set_name               text   NOT NULL,
    emp_mgr_transfer_set_from               date,
    emp_mgr_transfer_set_to                 date,
    PRIMARY KEY (tenant_id, person_id, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);

-- Group data access. A person may have several at a time.
CREATE TABLE gdap_assignment (
    tenant_id          bigint  NOT NULL,
    person_id          bigint  NOT NULL,
    from_date          date    NOT NULL,
    to_date            date    NOT NULL CHECK (to_date > from_date),
    gdap_name          text    NOT NULL,
    -- manager_role or employee_role.
    role               text    NOT NULL,
    default_switch     boolean NOT NULL,
    original_from_date date,
    original_to_date   date,
    PRIMARY KEY (tenant_id, person_id, gdap_name, role, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE custom_data (
    tenant_id bigint NOT NULL,
    person_id bigint NOT NULL,
    type_name text   NOT NULL,
    text      text   NOT NULL,
    PRIMARY KEY (tenant_id, person_id, type_name),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX custom_data_text ON custom_data (tenant_id, type_name, text text_pattern_ops);

CREATE TABLE custom_date (
    tenant_id bigint NOT NULL,
    person_id bigint NOT NULL,
    type_name text   NOT NULL,
    date      date   NOT NULL,
    PRIMARY KEY (tenant_id, person_id, type_name),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX custom_date_date ON custom_date (tenant_id, type_name, date);

CREATE TABLE email_address (
    tenant_id         bigint  NOT NULL,
    person_id         bigint  NOT NULL,
    contact_type_name text    NOT NULL,
    address           text    NOT NULL,
    address_key       text    NOT NULL GENERATED ALWAYS AS (lower(address)) STORED,
    -- NULL if the request did not have it.
    notification      boolean,
    PRIMARY KEY (tenant_id, person_id, contact_type_name),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX email_address_address ON email_address (tenant_id, address_key);

-- For finding persons with a value in a range of days: the value first, then the days.
CREATE INDEX employment_status_value ON employment_status (tenant_id, status, from_date, to_date) INCLUDE (person_id);
CREATE INDEX user_account_status_value ON user_account_status (tenant_id, status, from_date, to_date) INCLUDE (person_id);
CREATE INDEX pay_rule_assignment_value ON pay_rule_assignment (tenant_id, pay_rule_name, from_date, to_date) INCLUDE (person_id);
CREATE INDEX person_access_assignment_group ON person_access_assignment (tenant_id, manager_employee_group_name, from_date)
    WHERE manager_employee_group_name <> '';
CREATE INDEX gdap_assignment_value ON gdap_assignment (tenant_id, gdap_name, from_date);
-- Pattern operators, because a path begins with the path of its parent.
DROP INDEX primary_labor_account_path;
CREATE INDEX primary_labor_account_path
    ON primary_labor_account (tenant_id, organization_path text_pattern_ops, from_date, to_date) INCLUDE (person_id);

-- A badge that several persons have at the same time stays with the person who was created first; before this
-- migration such badges were possible. The owner of a table sees all tenants only while row-level security is
-- not forced.
ALTER TABLE badge_assignment NO FORCE ROW LEVEL SECURITY;
DELETE FROM badge_assignment late USING badge_assignment first
WHERE first.tenant_id = late.tenant_id AND first.badge_number = late.badge_number
  AND daterange(first.from_date, first.to_date) && daterange(late.from_date, late.to_date)
  AND (first.person_id, first.from_date) < (late.person_id, late.from_date);
ALTER TABLE badge_assignment FORCE ROW LEVEL SECURITY;

ALTER TABLE employment_status ADD CONSTRAINT employment_status_overlap
    EXCLUDE USING gist (tenant_id WITH =, person_id WITH =, daterange(from_date, to_date) WITH &&);
ALTER TABLE user_account_status ADD CONSTRAINT user_account_status_overlap
    EXCLUDE USING gist (tenant_id WITH =, person_id WITH =, daterange(from_date, to_date) WITH &&);
ALTER TABLE primary_labor_account ADD CONSTRAINT primary_labor_account_overlap
    EXCLUDE USING gist (tenant_id WITH =, person_id WITH =, daterange(from_date, to_date) WITH &&);
ALTER TABLE base_wage_rate ADD CONSTRAINT base_wage_rate_overlap
    EXCLUDE USING gist (tenant_id WITH =, person_id WITH =, daterange(from_date, to_date) WITH &&);
ALTER TABLE pay_rule_assignment ADD CONSTRAINT pay_rule_assignment_overlap
    EXCLUDE USING gist (tenant_id WITH =, person_id WITH =, daterange(from_date, to_date) WITH &&);
ALTER TABLE time_entry_method ADD CONSTRAINT time_entry_method_overlap
    EXCLUDE USING gist (tenant_id WITH =, person_id WITH =, daterange(from_date, to_date) WITH &&);
ALTER TABLE person_access_assignment ADD CONSTRAINT person_access_assignment_overlap
    EXCLUDE USING gist (tenant_id WITH =, person_id WITH =, daterange(from_date, to_date) WITH &&);
ALTER TABLE gdap_assignment ADD CONSTRAINT gdap_assignment_overlap
    EXCLUDE USING gist (tenant_id WITH =, person_id WITH =, hashtextextended(role || gdap_name, 0) WITH =, daterange(from_date, to_date) WITH &&);
-- A badge belongs to one person at a time. The constraint uses hashes, because a GiST index of texts is
-- several times as expensive to write. Two texts with the same hash are very unlikely.
ALTER TABLE badge_assignment ADD CONSTRAINT badge_assignment_overlap
    EXCLUDE USING gist (tenant_id WITH =, hashtextextended(badge_number, 0) WITH =, daterange(from_date, to_date) WITH &&);

SELECT isolate_tenants(isolated, 'inline_strict')
FROM unnest(ARRAY['pay_rule_assignment', 'time_entry_method', 'person_access_assignment',
    'gdap_assignment', 'custom_data', 'custom_date', 'email_address']::regclass[]) AS isolated;

-- Persons of all tenants whose rows must be written in the new layout.
CREATE TABLE old_layout (
    tenant_id bigint NOT NULL,
    person_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, person_id)
);
ALTER TABLE person NO FORCE ROW LEVEL SECURITY;
INSERT INTO old_layout (tenant_id, person_id) SELECT tenant_id, id FROM person;
ALTER TABLE person FORCE ROW LEVEL SECURITY;
SELECT isolate_tenants('old_layout', 'text');
CREATE POLICY sweep ON old_layout FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');
