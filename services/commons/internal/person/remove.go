package person

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// DeletePerson deletes the person with the id in the path.
func (h *Handler) DeletePerson(ctx context.Context, req *commonsv1.DeletePersonRequest) (*emptypb.Empty, error) {
	k := key{id: req.GetPersonId()}
	failed, err := h.remove(ctx, []key{k})
	if err != nil {
		return nil, err
	}
	if failed[k] != nil {
		if fault.HasCode(failed[k], CodeUnknown) {
			return nil, unknownInPath(k.id)
		}
		return nil, failed[k]
	}
	return &emptypb.Empty{}, nil
}

// MultiDeletePersons deletes persons, each of whom succeeds or fails by
// themselves.
func (h *Handler) MultiDeletePersons(ctx context.Context, req *commonsv1.PersonDeletionList) (*commonsv1.PersonDeletionList, error) {
	keys := make([]key, len(req.GetPersons()))
	wrong := make([]error, len(keys))
	for i, in := range req.GetPersons() {
		keys[i], wrong[i] = readIdentity(in.GetPersonIdentity(), h.today())
	}
	failed, err := h.remove(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.PersonDeletion, *commonsv1.PersonDeletion]{}
	for i, in := range req.GetPersons() {
		err := wrong[i]
		if err == nil {
			err = failed[keys[i]]
		}
		if err != nil {
			out.Fail(in, fault.FromError(err))
		} else {
			out.Succeed(in, in)
		}
	}
	_, failure, err := rpc.SettledAs(ctx, out, fault.CodeBulkFailed) // What operations on persons say.
	return &commonsv1.PersonDeletionList{Failure: failure}, err
}

// remove deletes the persons whom keys name and answers why others stay: auth is
// asked first whether the caller may remove their users. The intent to remove their accounts is noted with the deletion, so an account
// outlives its person at most until the sweep.
func (h *Handler) remove(ctx context.Context, keys []key) (map[key]error, error) {
	tenantID := tenantOf(ctx)
	known, err := h.known(ctx, tenantID, keys)
	if err != nil {
		return nil, err
	}
	failed := map[key]error{}
	if err := h.keepBeyondReach(ctx, keys, known, failed); err != nil {
		return nil, err
	}
	if err := h.keepPowerful(ctx, known, failed); err != nil {
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
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		return deletePersons(ctx, tx, tenantID, ids)
	})
	if err != nil {
		return nil, fmt.Errorf("delete persons: %w", err)
	}
	h.wake()
	h.accounts.undo(ctx, tenantID, ids)
	return failed, nil
}

// keepBeyondReach notes an error for who is unknown, and for who is not the
// caller's to delete.
func (h *Handler) keepBeyondReach(ctx context.Context, keys []key, known map[key]*stored, failed map[key]error) error {
	reach, err := h.rows.reach(ctx)
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
