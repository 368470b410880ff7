// Package account keeps the user accounts of persons in step with the auth service.
package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
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

const settles pg.Unaudited = "an intent is the other half of a change, whose transaction has the row"

// Accounts creates user accounts, which auth keeps, for persons, whom we keep.
// No transaction spans both, so the accounts come first, after a note of the
// intention: whatever happens, either the person is there, or the account is
// taken back, at once or by the sweep.
type Accounts struct {
	pool  *pg.Pool
	users authv1.UserServiceClient
	log   *slog.Logger
}

// New makes Accounts, which the auth service keeps.
func New(pool *pg.Pool, users authv1.UserServiceClient, log *slog.Logger) *Accounts {
	return &Accounts{pool: pool, users: users, log: log}
}

// Create creates and changes the accounts of the items and returns the ids of the
// persons who got one. An item whose account auth refuses fails. An account that
// was changed stays so when the person cannot be stored; the caller, who is informed
// that, tries again.
func (a *Accounts) Create(ctx context.Context, tenantID int64, items []*store.Item) ([]int64, error) {
	ids := withNewAccount(items)
	if len(ids) > 0 {
		if err := InsertIntents(ctx, a.pool, tenantID, ids); err != nil {
			return nil, err
		}
	}
	if err := a.put(ctx, items); err != nil {
		a.Rollback(ctx, tenantID, ids)
		return nil, err
	}
	return ids, nil
}

// InsertIntents notes that the accounts of persons go unless the intents are
// forgotten, and for whom.
func InsertIntents(ctx context.Context, db pg.Querier, tenantID int64, ids []int64) error {
	by := initiatorOf(ctx)
	_, err := db.Exec(ctx, `INSERT INTO account_intent (tenant_id, person_id, initiator_user, initiator_person_id, initiator_client, request_id)
		SELECT $1, q.id, $3, $4, $5, $6 FROM unnest($2::bigint[]) AS q (id) ORDER BY q.id
		ON CONFLICT (tenant_id, person_id) DO UPDATE SET created_at = now(), initiator_user = excluded.initiator_user,
			initiator_person_id = excluded.initiator_person_id, initiator_client = excluded.initiator_client, request_id = excluded.request_id`,
		tenantID, ids, by.GetUserName(), by.GetPersonId(), by.GetClientId(), by.GetRequestId())
	if err != nil {
		return fmt.Errorf("note the intention for accounts: %w", err)
	}
	return nil
}

// put asks auth for all accounts at once. Auth refuses all of them when it
// refuses one, and says which, so the others are asked for again: first without
// those whose profile it refuses, then without those whose name is taken. Only
// two who create the same names at once need more repetitions.
func (a *Accounts) put(ctx context.Context, items []*store.Item) error {
	const attempts = 4
	for range attempts {
		var asked []*store.Item
		req := &authv1.PutUsersRequest{}
		for _, it := range store.Valid(items) {
			if it.Account != nil {
				asked = append(asked, it)
				req.Users = append(req.Users, &authv1.User{
					PersonId: it.ID, Username: it.Account.UserName,
					Password: it.Account.Password, AccessProfile: it.Account.AccessProfile, PersonNumber: it.Number(),
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
				asked[i].Err = accountError(asked[i], err, int(i))
			}
		}
	}
	return fault.Conflict(fault.CodeConflict, "Others create the same user accounts at the same time. Try again.")
}

// Rollback takes accounts back that have no person. What cannot be done now is
// left to the sweep.
func (a *Accounts) Rollback(ctx context.Context, tenantID int64, ids []int64) {
	if len(ids) == 0 {
		return
	}
	// The request may have been given up; that must not stop this.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	left, err := a.find(ctx, `tenant_id = $1 AND person_id = ANY($2)`, tenantID, ids)
	for _, e := range left {
		err = errors.Join(err, a.remove(ctx, e))
	}
	if err != nil {
		a.log.WarnContext(ctx, "accounts without persons stay until the sweep", "count", len(ids), "error", err)
	}
}

// find returns the intents that a condition chooses, by whose they are.
func (a *Accounts) find(ctx context.Context, where string, args ...any) ([]*intentGroup, error) {
	found, err := pg.Collect(ctx, a.pool, pgx.RowToStructByPos[intent], `SELECT tenant_id, person_id, 0::bigint, initiator_user, initiator_person_id, initiator_client, request_id
		FROM account_intent WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("find intents: %w", err)
	}
	return groupIntents(found), nil
}

// remove has auth remove accounts whose persons are gone, or never came. A commit
// whose response was lost has left persons and no intents. The last administrator's
// account stays: whoever removed the person was permitted it, and somebody else
// has removed the other administrators since.
func (a *Accounts) remove(ctx context.Context, e *intentGroup) error {
	ids, _ := e.columns()
	_, err := a.users.DeleteUsers(ctx, &authv1.DeleteUsersRequest{PersonIds: ids, Initiator: e.initiator})
	if err == nil {
		return a.deleteIntents(ctx, e.tenant, ids)
	}
	offsets := fault.FromError(err).Details.GetErrorOffsets()
	var gone []int64
	for _, at := range offsets {
		if int(at) < len(ids) {
			gone = append(gone, ids[at])
		}
	}
	if len(gone) == 0 {
		return fmt.Errorf("remove user accounts: %w", err)
	}
	a.log.ErrorContext(ctx, "auth keeps the accounts of some persons who are gone", "persons", gone, "error", err)
	rest := &intentGroup{tenant: e.tenant, initiator: e.initiator, intents: slices.DeleteFunc(slices.Clone(e.intents), func(i intent) bool { return slices.Contains(gone, i.Person) })}
	if err := a.deleteIntents(ctx, e.tenant, gone); err != nil || len(rest.intents) == 0 {
		return err
	}
	return a.remove(ctx, rest)
}

func (a *Accounts) deleteIntents(ctx context.Context, tenantID int64, ids []int64) error {
	_, err := settles.Exec(ctx, a.pool, `DELETE FROM account_intent WHERE tenant_id = $1 AND person_id = ANY($2)`, tenantID, ids)
	return err
}

// errIntentDeleted says that the sweep came before the transaction.
var errIntentDeleted = errors.New("the accounts were taken back in the meantime")

// DeleteIntents removes the intents of the persons who are now there.
func DeleteIntents(ctx context.Context, tx pgx.Tx, tenantID int64, persons []store.Change, accounts []int64) error {
	opened := make(map[int64]bool, len(accounts))
	for _, id := range accounts {
		opened[id] = true
	}
	var ids []int64
	for _, p := range persons {
		if opened[p.ID] {
			ids = append(ids, p.ID)
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
		return fault.Unavailable("The request took too long. Try again.", time.Second).WithCause(errIntentDeleted)
	}
	return nil
}

// sweep takes back the accounts that a crash left without persons, of all
// tenants.
func (a *Accounts) sweep(ctx context.Context) error {
	old, err := a.find(tenant.All(ctx), `created_at < now() - make_interval(secs => $1) ORDER BY created_at LIMIT $2`,
		intentAge.Seconds(), sweepBatch)
	for _, e := range old {
		err = errors.Join(err, a.remove(tenant.With(ctx, e.tenant), e))
	}
	return err
}

// Run sweeps now and then until ctx ends.
func (a *Accounts) Run(ctx context.Context) error {
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

// withNewAccount returns the persons whose account auth does not have yet.
func withNewAccount(items []*store.Item) []int64 {
	var ids []int64
	for _, it := range store.Valid(items) {
		if it.Account != nil && !it.Account.Known {
			ids = append(ids, it.ID)
		}
	}
	return ids
}

// accountError is the error of an item whose user account auth refused.
func accountError(it *store.Item, err error, position int) error {
	f := fault.FromError(err)
	if results := f.Details.GetResults(); position < len(results) && results[position].GetError() != nil {
		return userError(f, position)
	}
	return fault.Invalid(rules.CodeNotUnique,
		fmt.Sprintf("user.userAccount.userName: %q is not unique.", it.Account.UserName)).WithCause(err)
}
