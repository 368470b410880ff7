-- +goose Up
-- Withdrawing an item, or showing it again, is a change like any other. It affects items of the locked
-- employee only. An update that leaves all values unchanged is not a change.
DROP TRIGGER keep_updated ON schedule_item;
CREATE TRIGGER keep_updated BEFORE UPDATE ON schedule_item FOR EACH ROW
    WHEN ((OLD.employee_id, OLD.kind, OLD.from_day, OLD.to_day, OLD.hides_day, OLD.deleted, OLD.version, OLD.body, OLD.covers, OLD.withdrawn)
        IS DISTINCT FROM
        (NEW.employee_id, NEW.kind, NEW.from_day, NEW.to_day, NEW.hides_day, NEW.deleted, NEW.version, NEW.body, NEW.covers, NEW.withdrawn))
    EXECUTE FUNCTION keep_updated_schedule_item();
