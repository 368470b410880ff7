package person

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

const (
	// undoTimeout bounds the attempt to take accounts back at once.
	undoTimeout = 5 * time.Second
	// intentAge is when an intent is taken for left behind. It is far longer
	// than any request may take.
	intentAge = 15 * time.Minute
	// sweepEvery and sweepBatch bound what a sweep costs.
	sweepEvery = time.Minute
	sweepBatch = 1000
)

// accounts creates user accounts, which auth keeps, for persons, whom we keep.
// No transaction spans both, so the accounts come first, after a note of the
// intention: whatever happens, either the person is there, or the account is
// taken back, at once or by the sweep.
type accounts struct {
	pool  *pgxpool.Pool
	users authv1.UserServiceClient
	log   *slog.Logger
}

// open creates and changes the accounts of the items and answers the ids of the
// persons who got one. An item whose account auth refuses fails. An account that
// was changed stays so when the person cannot be stored; the caller, who is told
// that, tries again.
func (a *accounts) open(ctx context.Context, tenantID int64, items []*item) ([]int64, error) {
	ids := withNewAccount(items)
	if len(ids) > 0 {
		_, err := a.pool.Exec(ctx, `INSERT INTO account_intent (tenant_id, person_id)
			SELECT $1, unnest($2::bigint[]) ON CONFLICT (tenant_id, person_id) DO UPDATE SET created_at = now()`, tenantID, ids)
		if err != nil {
			return nil, fmt.Errorf("note the intention to create accounts: %w", err)
		}
	}
	if err := a.put(ctx, items); err != nil {
		a.undo(ctx, tenantID, ids)
		return nil, err
	}
	return ids, nil
}

// put asks auth for all accounts at once. Auth refuses all of them when it
// refuses one, and says which, so the others are asked for again: first without
// those whose profile it refuses, then without those whose name is taken. Only
// two who create the same names at once need more repetitions.
func (a *accounts) put(ctx context.Context, items []*item) error {
	const attempts = 4
	for range attempts {
		var asked []*item
		req := &authv1.PutUsersRequest{}
		for _, it := range good(items) {
			if it.account != nil {
				asked = append(asked, it)
				req.Users = append(req.Users, &authv1.User{
					PersonId: it.id, Username: it.account.userName,
					Password: it.account.password, AccessProfile: it.account.accessProfile, PersonNumber: it.number(),
				})
			}
		}
		if len(asked) == 0 {
			return nil
		}
		_, err := a.users.PutUsers(ctx, req)
		if err == nil {
			return nil
		}
		offsets := fault.FromError(err).Details.GetErrorOffsets()
		if len(offsets) == 0 {
			return fmt.Errorf("create user accounts: %w", err)
		}
		for _, i := range offsets {
			if int(i) < len(asked) {
				asked[i].err = refusedAccount(asked[i], err, int(i))
			}
		}
	}
	return fault.Conflict(fault.CodeConflict, "Others create the same user accounts at the same time. Try again.")
}

// undo takes accounts back that have no person. What cannot be done now is
// left to the sweep.
func (a *accounts) undo(ctx context.Context, tenantID int64, ids []int64) {
	if len(ids) == 0 {
		return
	}
	// The request may have been given up; that must not stop this.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if err := a.remove(ctx, tenantID, ids); err != nil {
		a.log.WarnContext(ctx, "accounts without persons stay until the sweep", "count", len(ids), "error", err)
	}
}

func (a *accounts) remove(ctx context.Context, tenantID int64, ids []int64) error {
	var orphans []int64
	// A commit whose answer was lost has left persons and no intents.
	rows, err := a.pool.Query(ctx, `SELECT person_id FROM account_intent
		WHERE tenant_id = $1 AND person_id = ANY($2)`, tenantID, ids)
	if err != nil {
		return err
	}
	if orphans, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil || len(orphans) == 0 {
		return err
	}
	if _, err := a.users.DeleteUsers(ctx, &authv1.DeleteUsersRequest{PersonIds: orphans}); err != nil {
		return fmt.Errorf("remove user accounts: %w", err)
	}
	_, err = a.pool.Exec(ctx, `DELETE FROM account_intent
		WHERE tenant_id = $1 AND person_id = ANY($2)`, tenantID, orphans)
	return err
}

// errIntentGone says that the sweep came before the transaction.
var errIntentGone = errors.New("the accounts were taken back in the meantime")

// forgetIntents removes the intents of the persons who are now there.
func forgetIntents(ctx context.Context, tx pgx.Tx, tenantID int64, persons []newPerson, accounts []int64) error {
	opened := make(map[int64]bool, len(accounts))
	for _, id := range accounts {
		opened[id] = true
	}
	var ids []int64
	for _, p := range persons {
		if opened[p.id] {
			ids = append(ids, p.id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	done, err := tx.Exec(ctx, `DELETE FROM account_intent
		WHERE tenant_id = $1 AND person_id = ANY($2)`, tenantID, ids)
	if err != nil {
		return fmt.Errorf("forget the intention to create accounts: %w", err)
	}
	if done.RowsAffected() != int64(len(ids)) {
		return fault.Unavailable("The request took too long. Try again.", time.Second).WithCause(errIntentGone)
	}
	return nil
}

// sweep takes back the accounts that a crash left without persons, of all
// tenants.
func (a *accounts) sweep(ctx context.Context) error {
	rows, err := a.pool.Query(tenant.All(ctx), `SELECT tenant_id, array_agg(person_id) FROM (
			SELECT tenant_id, person_id FROM account_intent
			WHERE created_at < now() - make_interval(secs => $1) ORDER BY created_at LIMIT $2) old
		GROUP BY tenant_id`, intentAge.Seconds(), sweepBatch)
	if err != nil {
		return err
	}
	type left struct {
		Tenant  int64
		Persons []int64
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[left])
	if err != nil {
		return err
	}
	var failed error
	for _, l := range all {
		failed = errors.Join(failed, a.remove(tenant.With(ctx, l.Tenant), l.Tenant, l.Persons))
	}
	return failed
}

// run sweeps now and then until ctx ends.
func (a *accounts) run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := a.sweep(ctx); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "sweep of accounts without persons failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// withNewAccount answers the persons whose account auth does not have yet.
func withNewAccount(items []*item) []int64 {
	var ids []int64
	for _, it := range good(items) {
		if it.account != nil && !it.account.known {
			ids = append(ids, it.id)
		}
	}
	return ids
}
