-- +goose Up
-- A propagation can be undone. Its change is the versions of assignments that it made (propagation_id) and
-- those that it ended, or the value of allowsInheritance that it gave to its term.
ALTER TABLE pattern_assignment ADD COLUMN ended_by bigint;
COMMENT ON COLUMN pattern_assignment.ended_by IS 'the propagation of the change that ended this version';

-- A change has one time. Versions that ended at the time when others began were ended by the same change.
-- Changes of the past that only removed assignments cannot be told, so they cannot be undone.
ALTER TABLE pattern_assignment NO FORCE ROW LEVEL SECURITY;
UPDATE pattern_assignment a SET ended_by = n.propagation_id
FROM (SELECT DISTINCT tenant_id, believed_from, propagation_id FROM pattern_assignment) AS n
WHERE n.tenant_id = a.tenant_id AND n.believed_from = a.believed_until;
ALTER TABLE pattern_assignment FORCE ROW LEVEL SECURITY;

ALTER TABLE propagation
    ADD COLUMN allows_inheritance    boolean,
    ADD COLUMN undoes_propagation_id bigint,
    ADD COLUMN restores_from         timestamptz,
    ADD COLUMN reason                text NOT NULL DEFAULT '',
    ADD COLUMN paused_at             timestamptz,
    ADD COLUMN paused_by             text NOT NULL DEFAULT '',
    ADD COLUMN pause_reason          text NOT NULL DEFAULT '';
COMMENT ON COLUMN propagation.state IS 'ACCEPTED, RUNNING, PAUSED, FINISHED or FAILED';
COMMENT ON COLUMN propagation.cause IS 'PATTERN, INHERITANCE, MEMBERSHIP, UNLOCKING or UNDO';
COMMENT ON COLUMN propagation.allows_inheritance IS 'the value that the change gave to its employment term';
COMMENT ON COLUMN propagation.restores_from IS
    'for an undo: spans that were replaced from this time on give their series back to the spans that return';
COMMENT ON COLUMN propagation_batch.state IS
    'WAITING, REQUESTED, RETRYING (asked for again later by the broker, outside the window of the tenant), PAUSED or FAILED';
