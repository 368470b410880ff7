-- +goose Up
-- The subquery has the key computed once. Without it, a plan that scans the table computes
-- the key of the number for each row.
CREATE OR REPLACE FUNCTION person_by_number(tenant bigint, number text) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce((SELECT id FROM person WHERE tenant_id = tenant AND person_number = number),
                    (SELECT id FROM person WHERE tenant_id = tenant AND person_number_key = (SELECT person_number_key(number))))
$$;
