-- Databases of older builds have a function without the second parameter.
DROP FUNCTION IF EXISTS isolate_tenants(regclass);

CREATE OR REPLACE FUNCTION isolate_tenants(isolated regclass, comparison text DEFAULT 'subselect') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    setting        CONSTANT text := 'current_setting(''rotaloom.tenant_id'', true)';
    parsed         CONSTANT text := format('nullif(%s, '''')::bigint', setting);
    parsed_or_null CONSTANT text := format('nullif(nullif(%s, ''''), ''*'')::bigint', setting);
    condition      text;
BEGIN
    condition := CASE comparison
        -- The server reads the setting once for a statement. A session of all tenants sees no rows.
        WHEN 'subselect' THEN format('tenant_id = (SELECT %s)', parsed_or_null)
        -- The plan has one node less, and the server reads the setting for each row if the statement does not
        -- name the tenant.
        WHEN 'inline' THEN format('tenant_id = %s', parsed_or_null)
        -- A session of all tenants gets an error.
        WHEN 'subselect_strict' THEN format('tenant_id = (SELECT %s)', parsed)
        WHEN 'inline_strict' THEN format('tenant_id = %s', parsed)
        -- A session of all tenants sees no rows, and an index on the tenant does not serve the policy.
        WHEN 'text' THEN format('tenant_id::text = %s', setting)
        WHEN 'text_subselect' THEN format('tenant_id::text = (SELECT %s)', setting)
        -- A session of all tenants reads and writes all rows.
        WHEN 'all' THEN format('%s IN (''*'', tenant_id::text)', setting)
    END;
    IF condition IS NULL THEN
        RAISE EXCEPTION 'isolate_tenants: there is no comparison %', comparison;
    END IF;
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', isolated);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', isolated);
    EXECUTE format('CREATE POLICY tenant ON %s USING (%s)', isolated, condition);
END
$$;
