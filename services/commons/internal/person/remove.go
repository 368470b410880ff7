package person

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// remove deletes the persons whom keys name and answers why others stay: auth is
// asked first whether the caller may remove their users. The intent to remove their accounts is noted with the deletion, so an account
// outlives its person at most until the sweep.
func (w *writer) remove(ctx context.Context, keys []key) (map[key]error, error) {
	tenantID := tenantOf(ctx)
	known, err := w.reader.known(ctx, tenantID, keys)
	if err != nil {
		return nil, err
	}
	failed := map[key]error{}
	if err := w.keepBeyondReach(ctx, keys, known, failed); err != nil {
		return nil, err
	}
	if err := w.keepPowerful(ctx, known, failed); err != nil {
		return nil, err
	}
	var ids []int64
	for k, p := range known {
		if failed[k] == nil {
			ids = append(ids, p.id)
		}
	}
	if len(ids) == 0 {
		return failed, nil
	}
	err = pg.InTx(ctx, w.pool, func(ctx context.Context, tx pgx.Tx) error {
		return deletePersons(ctx, tx, tenantID, ids)
	})
	if err != nil {
		return nil, fmt.Errorf("delete persons: %w", err)
	}
	w.wake()
	w.accounts.undo(ctx, tenantID, ids)
	return failed, nil
}

// keepBeyondReach notes an error for who is unknown, and for who is not the
// caller's to delete.
func (w *writer) keepBeyondReach(ctx context.Context, keys []key, known map[key]*stored, failed map[key]error) error {
	reach, err := w.reach(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if p := known[k]; p == nil {
			failed[k] = k.unknown()
		} else if err := reach.admit(p.person); err != nil {
			failed[k] = err
		}
	}
	return nil
}

// deletePersons deletes persons, tells of it, and notes that their accounts go.
// Who is gone already is left out.
func deletePersons(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64) error {
	rows, err := tx.Query(ctx, `WITH locked AS (
			SELECT id FROM person WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE)
		DELETE FROM person p USING locked WHERE p.tenant_id = $1 AND p.id = locked.id
		RETURNING p.id, p.version, p.time_zone`, tenantID, ids)
	if err != nil {
		return err
	}
	event := &commonsv1.PersonsChanged{}
	var gone []int64
	var id, version int64
	var zone string
	if _, err := pgx.ForEachRow(rows, []any{&id, &version, &zone}, func() error {
		gone = append(gone, id)
		event.Persons = append(event.Persons, &commonsv1.PersonState{
			PersonId: id, Version: version + 1, TimeZone: zone, Deleted: true,
		})
		return nil
	}); err != nil || len(gone) == 0 {
		return err
	}
	if err := noteIntents(ctx, tx, tenantID, gone); err != nil {
		return err
	}
	return outbox.Append(ctx, tx, tenantID, event)
}
