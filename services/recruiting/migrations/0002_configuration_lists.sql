-- +goose Up
-- The behaviors.
CREATE TABLE behavior (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.ConfigurationItem without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX behavior_name ON behavior (tenant_id, lower(name));
CREATE UNIQUE INDEX behavior_guid ON behavior (tenant_id, guid);
SELECT isolate_tenants('behavior');

-- The disposition reasons.
CREATE TABLE disposition_reason (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.ConfigurationItem without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX disposition_reason_name ON disposition_reason (tenant_id, lower(name));
CREATE UNIQUE INDEX disposition_reason_guid ON disposition_reason (tenant_id, guid);
SELECT isolate_tenants('disposition_reason');

-- The fields of study.
CREATE TABLE field_of_study (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.ConfigurationItem without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX field_of_study_name ON field_of_study (tenant_id, lower(name));
CREATE UNIQUE INDEX field_of_study_guid ON field_of_study (tenant_id, guid);
SELECT isolate_tenants('field_of_study');

-- The motivations.
CREATE TABLE motivation (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.ConfigurationItem without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX motivation_name ON motivation (tenant_id, lower(name));
CREATE UNIQUE INDEX motivation_guid ON motivation (tenant_id, guid);
SELECT isolate_tenants('motivation');

-- The prefixes.
CREATE TABLE prefix (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.ConfigurationItem without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX prefix_name ON prefix (tenant_id, lower(name));
CREATE UNIQUE INDEX prefix_guid ON prefix (tenant_id, guid);
SELECT isolate_tenants('prefix');

-- The suffixes.
CREATE TABLE suffix (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.ConfigurationItem without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX suffix_name ON suffix (tenant_id, lower(name));
CREATE UNIQUE INDEX suffix_guid ON suffix (tenant_id, guid);
SELECT isolate_tenants('suffix');

-- The job boards.
CREATE TABLE job_board (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.JobBoard without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX job_board_name ON job_board (tenant_id, lower(name));
CREATE UNIQUE INDEX job_board_guid ON job_board (tenant_id, guid);
SELECT isolate_tenants('job_board');

-- The legal entities.
CREATE TABLE legal_entity (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.LegalEntity without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX legal_entity_name ON legal_entity (tenant_id, lower(name));
CREATE UNIQUE INDEX legal_entity_guid ON legal_entity (tenant_id, guid);
SELECT isolate_tenants('legal_entity');

-- The organizational units.
CREATE TABLE org_unit (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.OrgUnit without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX org_unit_name ON org_unit (tenant_id, lower(name));
CREATE UNIQUE INDEX org_unit_guid ON org_unit (tenant_id, guid);
SELECT isolate_tenants('org_unit');

-- The physical locations.
CREATE TABLE physical_location (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.PhysicalLocation without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX physical_location_name ON physical_location (tenant_id, lower(name));
CREATE UNIQUE INDEX physical_location_guid ON physical_location (tenant_id, guid);
SELECT isolate_tenants('physical_location');

-- The proficiency levels.
CREATE TABLE proficiency_level (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.ProficiencyLevel without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX proficiency_level_name ON proficiency_level (tenant_id, lower(name));
CREATE UNIQUE INDEX proficiency_level_guid ON proficiency_level (tenant_id, guid);
SELECT isolate_tenants('proficiency_level');

-- The recruiting processes.
CREATE TABLE recruiting_process (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.RecruitingProcess without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX recruiting_process_name ON recruiting_process (tenant_id, lower(name));
CREATE UNIQUE INDEX recruiting_process_guid ON recruiting_process (tenant_id, guid);
SELECT isolate_tenants('recruiting_process');

-- The tax locations.
CREATE TABLE tax_location (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.TaxLocation without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX tax_location_name ON tax_location (tenant_id, lower(name));
CREATE UNIQUE INDEX tax_location_guid ON tax_location (tenant_id, guid);
SELECT isolate_tenants('tax_location');

-- The default rows that a tenant was given. Rows that an administrator renamed are not given again.
CREATE TABLE default_configuration (
    tenant_id bigint NOT NULL,
    -- The name of the table.
    kind      text   NOT NULL,
    name      text   NOT NULL,
    PRIMARY KEY (tenant_id, kind, name)
);
SELECT isolate_tenants('default_configuration');
