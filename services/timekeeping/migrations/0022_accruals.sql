-- +goose Up
-- Accrual codes and profiles. Bodies are the messages of rotaloom.timekeeping.v1 without id and version.
-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['accrual_code', 'accrual_profile'] LOOP
        EXECUTE format($t$CREATE TABLE %I (
            tenant_id  bigint      NOT NULL,
            id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
            name       text        NOT NULL,
            version    bigint      NOT NULL DEFAULT 1,
            body       bytea       NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (tenant_id, id))$t$, name);
        EXECUTE format('CREATE UNIQUE INDEX %I ON %I (tenant_id, lower(name))', name || '_name', name);
        PERFORM isolate_tenants(name::regclass, 'subselect_strict');
    END LOOP;
END $$;
-- +goose StatementEnd
