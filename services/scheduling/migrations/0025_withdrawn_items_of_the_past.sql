-- +goose Up
-- That an item is withdrawn, or shown again, is a change of it like any other. It
-- concerns items of the locked employee only. What a statement names and leaves as it
-- is was no change.
DROP TRIGGER keep_updated ON schedule_item;
CREATE TRIGGER keep_updated BEFORE UPDATE ON schedule_item FOR EACH ROW
    WHEN ((OLD.employee_id, OLD.kind, OLD.from_day, OLD.to_day, OLD.hides_day, OLD.deleted, OLD.version, OLD.body, OLD.covers, OLD.withdrawn)
        IS DISTINCT FROM
        (NEW.employee_id, NEW.kind, NEW.from_day, NEW.to_day, NEW.hides_day, NEW.deleted, NEW.version, NEW.body, NEW.covers, NEW.withdrawn))
    EXECUTE FUNCTION keep_updated_schedule_item();
