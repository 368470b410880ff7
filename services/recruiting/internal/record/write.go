package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Columns holds the values of the columns that only one table of records has.
type Columns map[string]any

func (c Columns) names() []string {
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Change returns the time of a change in microseconds since 1970: the present, but later than the
// time of every other change of the tenant. Other transactions of the tenant that change records
// wait until tx ends. So lock and write everything else before, as the methods of Table do.
func Change(ctx context.Context, tx pgx.Tx) (int64, error) {
	var changed int64
	err := tx.QueryRow(ctx, `
INSERT INTO change_counter AS c (tenant_id, changed) VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
ON CONFLICT (tenant_id) DO UPDATE SET changed = greatest(c.changed + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
RETURNING changed`, tenant.Of(ctx)).Scan(&changed)
	if err != nil {
		return 0, fmt.Errorf("determine the time of a change: %w", err)
	}
	return changed, nil
}

// Insert stores a new record and returns it. Errors of the database, such as a violated constraint,
// are wrapped.
func (t Table[T]) Insert(ctx context.Context, tx pgx.Tx, body T, columns Columns) (*Record[T], error) {
	encoded, err := proto.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", t.What, err)
	}
	id := uuid.NewString()
	args := arguments(ctx)
	args["id"], args["body"] = id, encoded
	names, places := "", ""
	for _, name := range columns.names() {
		names += ", " + name
		places += ", @" + name
		args[name] = columns[name]
	}
	sql := "INSERT INTO " + t.Name + " (tenant_id, id, body" + names + ") VALUES (@tenant, @id, @body" + places + ")"
	if _, err := tx.Exec(ctx, sql, args); err != nil {
		return nil, fmt.Errorf("insert %s: %w", t.What, err)
	}
	return t.stamp(ctx, tx, id, body)
}

// Update replaces the body of a record that the transaction has locked, and the given columns.
func (t Table[T]) Update(ctx context.Context, tx pgx.Tx, id string, body T, columns Columns) (*Record[T], error) {
	return t.write(ctx, tx, id, body, columns, "")
}

// Touch gives a record a new time of change, because something that it shows has changed.
func (t Table[T]) Touch(ctx context.Context, tx pgx.Tx, id string) error {
	changed, err := Change(ctx, tx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE "+t.Name+" SET changed = $3 WHERE tenant_id = $1 AND id = $2", tenant.Of(ctx), id, changed)
	if err != nil {
		return fmt.Errorf("touch %s: %w", t.What, err)
	}
	return nil
}

// Delete empties the body of a record that the transaction has locked, and sets the given columns.
// Only lists with updated_after show it from now on, as deleted.
func (t Table[T]) Delete(ctx context.Context, tx pgx.Tx, id string, columns Columns) error {
	var zero T
	_, err := t.write(ctx, tx, id, zero.ProtoReflect().New().Interface().(T), columns, ", deleted = true")
	return err
}

func (t Table[T]) write(ctx context.Context, tx pgx.Tx, id string, body T, columns Columns, more string) (*Record[T], error) {
	encoded, err := proto.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", t.What, err)
	}
	args := arguments(ctx)
	args["id"], args["body"] = id, encoded
	for _, name := range columns.names() {
		more += ", " + name + " = @" + name
		args[name] = columns[name]
	}
	if _, err := tx.Exec(ctx, "UPDATE "+t.Name+" SET body = @body"+more+" WHERE tenant_id = @tenant AND id = @id", args); err != nil {
		return nil, fmt.Errorf("update %s: %w", t.What, err)
	}
	return t.stamp(ctx, tx, id, body)
}

// stamp sets the time of the change after the write, which may have waited for other transactions.
func (t Table[T]) stamp(ctx context.Context, tx pgx.Tx, id string, body T) (*Record[T], error) {
	changed, err := Change(ctx, tx)
	if err != nil {
		return nil, err
	}
	r := &Record[T]{ID: id, Changed: changed, Body: body}
	err = tx.QueryRow(ctx, "UPDATE "+t.Name+" SET changed = $3 WHERE tenant_id = $1 AND id = $2 RETURNING created_at, deleted",
		tenant.Of(ctx), id, changed).Scan(&r.Created, &r.Deleted)
	if err != nil {
		return nil, fmt.Errorf("set the time of a change of %s: %w", t.What, err)
	}
	return r, nil
}

// Get returns the record with an id, in any case. If there is none that visible permits, the error
// has status 404.
func (t Table[T]) Get(ctx context.Context, db pg.Querier, id string, visible Condition) (*Record[T], error) {
	return t.readOne(ctx, db, id, visible, "")
}

// Lock is Get, and keeps other transactions from changing the record until tx ends.
func (t Table[T]) Lock(ctx context.Context, tx pgx.Tx, id string, visible Condition) (*Record[T], error) {
	return t.readOne(ctx, tx, id, visible, " FOR NO KEY UPDATE OF r")
}

// Refer is Get for a record that a body names at a path: the error has status 400. Other
// transactions cannot change the record until tx ends.
func (t Table[T]) Refer(ctx context.Context, tx pgx.Tx, path, id string, visible Condition) (*Record[T], error) {
	r, err := t.readOne(ctx, tx, id, visible, " FOR SHARE OF r")
	if fault.HasCode(err, t.Unknown) {
		return nil, fault.Invalid(t.Unknown, fault.FromError(err).Message).WithMembers(path)
	}
	return r, err
}

func (t Table[T]) readOne(ctx context.Context, db pg.Querier, id string, visible Condition, lock string) (*Record[T], error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return nil, t.unknownError(id)
	}
	args := arguments(ctx)
	args["id"] = parsed.String()
	sql := visible.apply(t.query()+" AND r.id = @id AND NOT r.deleted", args)
	r, err := pg.CollectOne(ctx, db, t.scan, sql+lock, args)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		if visible.SQL != "" {
			if _, err := t.readOne(ctx, db, id, Condition{}, ""); err == nil {
				authn.NoteNotVisible(ctx)
			}
		}
		return nil, t.unknownError(id)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", t.What, err)
	}
	return r, nil
}

func (t Table[T]) unknownError(id string) *fault.Error {
	return fault.NotFound(t.Unknown, fmt.Sprintf("There is no %s with the id %s.", t.What, strings.ToLower(id)))
}

// Rewrite replaces the body of every record that the filter permits by the result of keep.
func (t Table[T]) Rewrite(ctx context.Context, tx pgx.Tx, filter Condition, keep func(body T) T) error {
	list, err := t.All(ctx, tx, filter, "ORDER BY r.id FOR NO KEY UPDATE OF r")
	if err != nil {
		return err
	}
	for _, r := range list {
		if _, err := t.Update(ctx, tx, r.ID, keep(r.Body), nil); err != nil {
			return err
		}
	}
	return nil
}

// DeleteAll deletes all records that the filter permits, as Delete does.
func (t Table[T]) DeleteAll(ctx context.Context, tx pgx.Tx, filter Condition, columns func(id string) Columns) error {
	list, err := t.All(ctx, tx, filter, "ORDER BY r.id FOR NO KEY UPDATE OF r")
	if err != nil {
		return err
	}
	for _, r := range list {
		if err := t.Delete(ctx, tx, r.ID, columns(r.ID)); err != nil {
			return err
		}
	}
	return nil
}
