-- +goose Up
-- The visibility of an edited entry of an employee's own pattern depended on the order of past events. Each
-- propagation writes the result of the present state, so another propagation for the employees with such
-- entries corrects it. The sweep requests it.
ALTER TABLE schedule_item NO FORCE ROW LEVEL SECURITY;
ALTER TABLE pattern_assignment NO FORCE ROW LEVEL SECURITY;
ALTER TABLE propagation NO FORCE ROW LEVEL SECURITY;
INSERT INTO propagation (tenant_id, cause, employee_ids, moved_at)
SELECT i.tenant_id, 'MEMBERSHIP', array_agg(DISTINCT i.hides_employee_id), '-infinity'
FROM schedule_item i
WHERE i.hides_day IS NOT NULL AND EXISTS (
    SELECT FROM pattern_assignment a WHERE a.tenant_id = i.tenant_id AND a.id = i.hides_lineage_id AND a.employee_id IS NOT NULL)
GROUP BY i.tenant_id;
ALTER TABLE schedule_item FORCE ROW LEVEL SECURITY;
ALTER TABLE pattern_assignment FORCE ROW LEVEL SECURITY;
ALTER TABLE propagation FORCE ROW LEVEL SECURITY;
