-- +goose Up
-- Person numbers are the same if their keys are the same: case, width, white space and invisible characters
-- are ignored (pkg/names has the same in Go).
CREATE FUNCTION person_number_key(number text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT lower(btrim(regexp_replace(normalize(
        regexp_replace(number, '[\u00AD\u034F\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFE00-\uFE0F\uFEFF]', '', 'g'),
        NFKC), '\s+', ' ', 'g')))
$$;

-- NULL if an older person has the same key. Such pairs are from before this migration; each person is then
-- found by the exact number.
ALTER TABLE person ADD COLUMN person_number_key text;

-- The person with exactly this number or, if there is none, with the same key.
CREATE FUNCTION person_by_number(tenant bigint, number text) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce((SELECT id FROM person WHERE tenant_id = tenant AND person_number = number),
                    (SELECT id FROM person WHERE tenant_id = tenant AND person_number_key = person_number_key(number)))
$$;

-- A trigger, because the previous release writes persons without the key.
-- +goose StatementBegin
CREATE FUNCTION set_person_number_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.person_number_key := person_number_key(NEW.person_number);
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER person_number_key_of_new BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION set_person_number_key();
CREATE TRIGGER person_number_key_of_changed BEFORE UPDATE OF person_number ON person FOR EACH ROW
    WHEN (OLD.person_number IS DISTINCT FROM NEW.person_number) EXECUTE FUNCTION set_person_number_key();
