package writer

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/personzone"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/account"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// Delete deletes the persons that keys name, and returns the errors of those that stay. First
// it asks auth whether the caller may remove their users. The transaction that deletes a
// person also stores the intent to remove the account, so the sweep removes the account at
// the latest.
func (w *Writer) Delete(ctx context.Context, keys []store.Key) (map[store.Key]error, error) {
	tenantID := tenant.Of(ctx)
	known, err := w.reader.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	failed := map[store.Key]error{}
	if err := w.failOutOfScope(ctx, keys, known, failed); err != nil {
		return nil, err
	}
	if err := w.failUserDeletions(ctx, known, failed); err != nil {
		return nil, err
	}
	var ids []int64
	for k, p := range known {
		if failed[k] == nil {
			ids = append(ids, p.ID)
		}
	}
	if len(ids) == 0 {
		return failed, nil
	}
	err = pg.InTx(ctx, w.pool, func(ctx context.Context, tx pgx.Tx) error {
		for _, id := range ids {
			if err := precondition.CheckRow(ctx, tx, fmt.Sprintf("person %d", id), reader.NotFound(id),
				`SELECT version FROM person WHERE tenant_id = $1 AND id = $2 FOR UPDATE`, tenantID, id); err != nil {
				return err
			}
		}
		return deleteAll(ctx, tx, ids)
	})
	if err != nil {
		return nil, fmt.Errorf("delete persons: %w", err)
	}
	w.accounts.Rollback(ctx, ids)
	return failed, nil
}

// failOutOfScope sets an error for unknown persons, and for persons whom the caller may not
// delete.
func (w *Writer) failOutOfScope(ctx context.Context, keys []store.Key, known map[store.Key]*store.Person, failed map[store.Key]error) error {
	reach, err := w.callerScope(ctx)
	if err != nil {
		return err
	}
	visible, err := w.reader.Visible(ctx)
	if err != nil {
		return err
	}
	rowvisibility.WritesForNobody(ctx) // Completes the own-record check, even if the keys name no person.
	for _, k := range keys {
		if p := known[k]; p == nil {
			failed[k] = k.NotFound()
		} else if err := reach.check(p.Message); err != nil {
			failed[k] = err
		} else if refused := visible.RefuseOwn(p.ID); refused != nil {
			failed[k] = refused
		}
	}
	return nil
}

// deleteAll deletes persons, publishes the deletion, and stores the intents to remove their
// accounts. It skips persons who are already deleted.
func deleteAll(ctx context.Context, tx pgx.Tx, ids []int64) error {
	rows, err := tx.Query(ctx, `WITH locked AS (
			SELECT id FROM person WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE)
		DELETE FROM person p USING locked WHERE p.tenant_id = $1 AND p.id = locked.id
		RETURNING p.id, p.version, p.time_zone, p.time_zones`, tenant.Of(ctx), ids)
	if err != nil {
		return err
	}
	event := &commonsv1.PersonsChanged{}
	var gone []int64
	var id, version int64
	var zone string
	var zones []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &version, &zone, &zones}, func() error {
		gone = append(gone, id)
		dated, err := personzone.Decode(zones)
		if err != nil {
			return err
		}
		event.Persons = append(event.Persons, &commonsv1.PersonState{
			PersonId: id, Version: version + 1, TimeZone: zone, TimeZones: dated, Deleted: true,
		})
		return nil
	}); err != nil || len(gone) == 0 {
		return err
	}
	if err := account.InsertIntents(ctx, tx, gone); err != nil {
		return err
	}
	return outbox.Append(ctx, tx, event)
}
