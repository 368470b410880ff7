-- +goose Up
-- Failed logins, by user name (also of users who do not exist) and by address.
CREATE TABLE login_failure (
    tenant_id    bigint      NOT NULL REFERENCES tenant (id),
    -- SHA-256 of the name or the address.
    key          bytea       NOT NULL,
    -- Failures in the window that ends then.
    failures     integer     NOT NULL,
    window_ends  timestamptz NOT NULL,
    -- Failures since the last success.
    streak       integer     NOT NULL,
    locked_until timestamptz,
    -- The row has no effect after this time.
    forget_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX login_failure_age ON login_failure (forget_at);

-- Rows that have no effect any longer are deleted for all tenants together.
SELECT isolate_tenants('login_failure', 'text');
CREATE POLICY sweep_read ON login_failure FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');
CREATE POLICY sweep ON login_failure FOR DELETE USING
    (current_setting('rotaloom.tenant_id', true) = '*');
