// Package account keeps the user accounts in the auth service consistent with the persons.
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
	// undoTimeout limits the immediate attempt to remove accounts.
	undoTimeout = 5 * time.Second
	// intentAge is the minimum age of an abandoned intent. It is far longer than any request may
	// take.
	intentAge = 15 * time.Minute
	// sweepEvery and sweepBatch limit the cost of a sweep.
	sweepEvery = time.Minute
	sweepBatch = 1000
)

const settles pg.Unaudited = "an intent is the other half of a change, whose transaction has the row"

// Accounts creates user accounts in auth for persons in this service. No transaction spans
// both services. Therefore it first stores an intent and then creates the account, before the
// person is stored. After a failure, the account of a missing person is removed, immediately
// or by the sweep.
type Accounts struct {
	pool  *pg.Pool
	users authv1.UserServiceClient
	log   *slog.Logger
}

// New returns Accounts that create users in the auth service.
func New(pool *pg.Pool, users authv1.UserServiceClient, log *slog.Logger) *Accounts {
	return &Accounts{pool: pool, users: users, log: log}
}

// Create creates and changes the accounts of the items, and returns the ids of the persons
// with new accounts. An item fails if auth rejects its account. If a person cannot be stored,
// a changed account stays changed; the caller receives the error and can repeat the request.
func (a *Accounts) Create(ctx context.Context, items []*store.Item) ([]int64, error) {
	ids := withNewAccount(items)
	if len(ids) > 0 {
		if err := InsertIntents(ctx, a.pool, ids); err != nil {
			return nil, err
		}
	}
	if err := a.putAccounts(ctx, items); err != nil {
		a.Rollback(ctx, ids)
		return nil, err
	}
	return ids, nil
}

// InsertIntents stores the intents to remove the accounts of persons, with the initiator.
// Deleting an intent cancels the removal.
func InsertIntents(ctx context.Context, db pg.Querier, ids []int64) error {
	by := deferredInitiator(ctx)
	_, err := db.Exec(ctx, `INSERT INTO account_intent (tenant_id, person_id, initiator_user, initiator_person_id, initiator_client, request_id)
		SELECT $1, q.id, $3, $4, $5, $6 FROM unnest($2::bigint[]) AS q (id) ORDER BY q.id
		ON CONFLICT (tenant_id, person_id) DO UPDATE SET created_at = now(), initiator_user = excluded.initiator_user,
			initiator_person_id = excluded.initiator_person_id, initiator_client = excluded.initiator_client, request_id = excluded.request_id`,
		tenant.Of(ctx), ids, by.GetUserName(), by.GetPersonId(), by.GetClientId(), by.GetRequestId())
	if err != nil {
		return fmt.Errorf("note the intention for accounts: %w", err)
	}
	return nil
}

// putAccounts sends all accounts to auth in one request. If auth rejects one, it stores none and
// names the rejected ones, so it sends the others again: first without accounts with invalid
// profiles, then without accounts with taken names. More attempts are needed only if two
// requests create the same names at the same time.
func (a *Accounts) putAccounts(ctx context.Context, items []*store.Item) error {
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

// Rollback removes accounts without persons. If a removal fails, the sweep repeats it.
func (a *Accounts) Rollback(ctx context.Context, ids []int64) {
	if len(ids) == 0 {
		return
	}
	// Continue even if the request was canceled.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	left, err := a.find(ctx, `tenant_id = $1 AND person_id = ANY($2)`, tenant.Of(ctx), ids)
	for _, e := range left {
		err = errors.Join(err, a.remove(ctx, e))
	}
	if err != nil {
		a.log.WarnContext(ctx, "accounts without persons stay until the sweep", "count", len(ids), "error", err)
	}
}

// find returns the intents that match a condition, grouped by tenant and request.
func (a *Accounts) find(ctx context.Context, where string, args ...any) ([]*intentGroup, error) {
	found, err := pg.Collect(ctx, a.pool, pgx.RowToStructByPos[intent], `SELECT tenant_id, person_id, 0::bigint, initiator_user, initiator_person_id, initiator_client, request_id
		FROM account_intent WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("find intents: %w", err)
	}
	return groupIntents(found), nil
}

// remove makes auth remove the accounts of persons who were deleted or never stored. If only
// the response to a commit was lost, the person exists and the intent does not. The last
// administrator's account stays: the caller had the permission to remove the person, but
// other administrators have been removed since.
func (a *Accounts) remove(ctx context.Context, e *intentGroup) error {
	ids, _ := e.columns()
	_, err := a.users.DeleteUsers(ctx, &authv1.DeleteUsersRequest{PersonIds: ids, Initiator: e.initiator})
	if err == nil {
		return a.deleteIntents(ctx, ids)
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
	if err := a.deleteIntents(ctx, gone); err != nil || len(rest.intents) == 0 {
		return err
	}
	return a.remove(ctx, rest)
}

func (a *Accounts) deleteIntents(ctx context.Context, ids []int64) error {
	_, err := settles.Exec(ctx, a.pool, `DELETE FROM account_intent WHERE tenant_id = $1 AND person_id = ANY($2)`, tenant.Of(ctx), ids)
	return err
}

// errIntentDeleted reports that the sweep removed the accounts before the transaction.
var errIntentDeleted = errors.New("the accounts were taken back in the meantime")

// DeleteIntents removes the intents of the persons that the transaction stores.
func DeleteIntents(ctx context.Context, tx pgx.Tx, persons []store.Change, accounts []int64) error {
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
		WHERE tenant_id = $1 AND person_id = ANY($2)`, tenant.Of(ctx), ids)
	if err != nil {
		return fmt.Errorf("forget the intention to create accounts: %w", err)
	}
	if done.RowsAffected() != int64(len(ids)) {
		return fault.Unavailable("The request took too long. Try again.", time.Second).WithCause(errIntentDeleted)
	}
	return nil
}

// sweep removes the accounts that a crash left without persons, for all tenants.
func (a *Accounts) sweep(ctx context.Context) error {
	old, err := a.find(tenant.All(ctx), `created_at < now() - make_interval(secs => $1) ORDER BY created_at LIMIT $2`,
		intentAge.Seconds(), sweepBatch)
	for _, e := range old {
		err = errors.Join(err, a.remove(tenant.With(ctx, e.tenant), e))
	}
	return err
}

// Run sweeps periodically until ctx ends.
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

// withNewAccount returns the persons whose account does not exist in auth yet.
func withNewAccount(items []*store.Item) []int64 {
	var ids []int64
	for _, it := range store.Valid(items) {
		if it.Account != nil && !it.Account.Known {
			ids = append(ids, it.ID)
		}
	}
	return ids
}

// accountError returns the error of an item whose user account auth rejected.
func accountError(it *store.Item, err error, position int) error {
	f := fault.FromError(err)
	if results := f.Details.GetResults(); position < len(results) && results[position].GetError() != nil {
		return userError(f, position)
	}
	return fault.Invalid(rules.CodeNotUnique,
		fmt.Sprintf("user.userAccount.userName: %q is not unique.", it.Account.UserName)).WithCause(err)
}
