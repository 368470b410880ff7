-- +goose Up
-- The rate limits that tenants set for their clients.
CREATE TABLE rate_limit (
    tenant_id  bigint           NOT NULL,
    -- rotaloom.options.v1.Throttle.
    throttle   smallint         NOT NULL,
    -- '' for all clients without a separate rate.
    client_id  text             NOT NULL,
    -- Requests per second.
    rate       double precision NOT NULL CHECK (rate > 0),
    burst      bigint           NOT NULL CHECK (burst > 0),
    created_at timestamptz      NOT NULL DEFAULT now(),
    updated_at timestamptz      NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, throttle, client_id)
);
SELECT isolate_tenants('rate_limit', 'inline_strict');

-- The remaining requests of callers. After a crash all callers start with a full allowance, so the table is
-- unlogged. A caller without a row also has a full allowance.
CREATE UNLOGGED TABLE rate_bucket (
    -- 0 for callers who are not identified yet.
    tenant_id  bigint           NOT NULL,
    -- The client, or the address of callers without one.
    caller     text             NOT NULL,
    throttle   smallint         NOT NULL,
    -- The remaining requests at that time. Negative if more requests were permitted than available.
    tokens     double precision NOT NULL,
    -- The size of the last lease.
    granted    bigint           NOT NULL,
    updated_at timestamptz      NOT NULL,
    -- No other index, so that a lease changes its row in place.
    PRIMARY KEY (tenant_id, caller, throttle)
) WITH (fillfactor = 50);
SELECT isolate_tenants('rate_bucket', 'all');
