-- +goose Up
-- The queries that the constraints of a query contain. Built-in queries have no rows, so there is no foreign
-- key to them; a query in a row here cannot be deleted.
CREATE TABLE hyperfind_query_contained (
    tenant_id    bigint NOT NULL,
    query_id     bigint NOT NULL,
    contained_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, query_id, contained_id),
    FOREIGN KEY (tenant_id, query_id) REFERENCES hyperfind_query (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX hyperfind_query_contained_contained ON hyperfind_query_contained (tenant_id, contained_id, query_id);
SELECT isolate_tenants('hyperfind_query_contained', 'inline_strict');
