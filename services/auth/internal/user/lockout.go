package user

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
)

const (
	// lockoutEvery and lockoutBatch bound the cost of the sweep, and the delay of a lockout.
	lockoutEvery = 15 * time.Second
	lockoutBatch = 1000
)

// LockOutUsers replaces the lockout periods of persons. Current lockouts take effect at once. Commons checks
// the initiator's permission with CheckUserChanges beforehand; LockOutUsers additionally refuses, with
// details.error-offsets, to lock out the last administrator.
func (h *Handler) LockOutUsers(ctx context.Context, req *authv1.LockOutUsersRequest) (*emptypb.Empty, error) {
	type version struct{ Person, Version int64 }
	type period struct{ Person, From, To int64 }
	var persons []int64
	var versions []version
	var periods []period
	for _, u := range req.GetUsers() {
		persons, versions = append(persons, u.GetPersonId()), append(versions, version{u.GetPersonId(), u.GetVersion()})
		for _, p := range u.GetPeriods() {
			periods = append(periods, period{u.GetPersonId(), p.GetFrom(), p.GetTo()})
		}
	}
	var ending []int64
	for _, u := range req.GetUsers() {
		if slices.ContainsFunc(u.GetPeriods(), func(p *authv1.LockoutPeriod) bool { return p.GetTo() > h.now(ctx).Unix() }) {
			ending = append(ending, u.GetPersonId())
		}
	}
	recordInitiator(ctx, req.GetInitiator(), persons)
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		last, err := h.checkAdministratorsRemain(ctx, tx, ending)
		if err == nil {
			err = refuseLast(persons, last)
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO account_lockout AS l (tenant_id, person_id, version, periods)
			SELECT $1, q.person, q.version, coalesce(p.periods, '{}')
			FROM unnest($2::bigint[], $3::bigint[]) AS q (person, version)
			LEFT JOIN (SELECT person, range_agg(tstzrange(to_timestamp(first), to_timestamp(last))) AS periods
				FROM unnest($4::bigint[], $5::bigint[], $6::bigint[]) AS u (person, first, last) GROUP BY person) p USING (person)
			ORDER BY q.person
			ON CONFLICT (tenant_id, person_id) DO UPDATE SET version = excluded.version, periods = excluded.periods
			WHERE excluded.version > l.version`, pg.Columns(periods, pg.Columns(versions, tenant.Of(ctx))...)...)
		if err != nil {
			return err
		}
		_, err = h.settleLockouts(ctx, tx, persons, h.now(ctx))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("lock users out: %w", err)
	}
	h.revoked.WakePublisher()
	return &emptypb.Empty{}, nil
}

// now returns the time on the clock of the tenant. Lockouts follow it. Tokens follow the real time.
func (h *Handler) now(ctx context.Context) time.Time { return clock.OfTenant(ctx, h.clock.Now()) }

// switched is a user whose lockout began or ended.
type switched struct {
	personID  int64
	lockedOut bool
}

// settleLockouts applies the lockouts at a time to users, revokes the tokens of users that are locked out, and
// stores the time of the next change. It returns the users that it changed, by person.
func (h *Handler) settleLockouts(ctx context.Context, tx pgx.Tx, persons []int64, at time.Time) ([]switched, error) {
	tenantID := tenant.Of(ctx)
	if _, err := tx.Exec(ctx, `WITH due AS (
			SELECT person_id, (SELECT min(b.at) FROM unnest(periods) p, LATERAL (VALUES (lower(p)), (upper(p))) b (at) WHERE b.at > $3) AS next_at
			FROM account_lockout WHERE tenant_id = $1 AND person_id = ANY($2) ORDER BY person_id FOR UPDATE)
		UPDATE account_lockout l SET next_at = due.next_at FROM due
		WHERE l.tenant_id = $1 AND l.person_id = due.person_id`, tenantID, persons, at); err != nil {
		return nil, err
	}
	var ended []int64
	var all []switched
	var s switched
	if err := pg.ForEach(ctx, tx, []any{&s.personID, &s.lockedOut}, func() error {
		if all = append(all, s); s.lockedOut {
			ended = append(ended, s.personID)
		}
		return nil
	}, `UPDATE app_user u SET locked_out = NOT u.locked_out, updated_at = now() FROM account_lockout l
		WHERE u.tenant_id = $1 AND u.person_id = ANY($2) AND l.tenant_id = $1 AND l.person_id = u.person_id
		  AND u.locked_out <> (l.periods @> $3::timestamptz) RETURNING u.person_id, u.locked_out`, tenantID, persons, at); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b switched) int { return cmp.Compare(a.personID, b.personID) })
	return all, revoked.Persons(ctx, tx, ended, h.clock.Now())
}

// SettleLockouts begins and ends the lockouts of the tenant that are due from one time up to another, in the
// order of their due times. It calls each for every changed user.
func (h *Handler) SettleLockouts(ctx context.Context, tx pgx.Tx, from, to time.Time, each func(at time.Time, personID int64, lockedOut bool)) error {
	type due struct {
		At      *time.Time
		Persons []int64
	}
	for {
		next, err := pg.CollectOne(ctx, tx, pgx.RowToStructByPos[due], `SELECT min(next_at), array_agg(person_id) FROM account_lockout
			WHERE tenant_id = $1 AND next_at = (SELECT min(next_at) FROM account_lockout WHERE tenant_id = $1 AND next_at <= $2)`, tenant.Of(ctx), to)
		if err != nil || next.At == nil {
			return err
		}
		at := *next.At
		if at.Before(from) {
			at = from // It is overdue: the sweep has not settled it yet.
		}
		all, err := h.settleLockouts(ctx, tx, next.Persons, at)
		if err != nil {
			return err
		}
		for _, s := range all {
			each(at, s.personID, s.lockedOut)
		}
	}
}

// WakePublisher publishes revocations at once. Call it after a commit.
func (h *Handler) WakePublisher() { h.revoked.WakePublisher() }

// SweepLockouts applies due lockouts of all tenants, and returns the number of persons that it checked, at most
// lockoutBatch.
func (h *Handler) SweepLockouts(ctx context.Context) (int, error) {
	type due struct {
		Tenant  int64
		Persons []int64
	}
	all, err := pg.Collect(tenant.All(ctx), h.pool, pgx.RowToStructByPos[due], `SELECT tenant_id, array_agg(person_id) FROM (
			SELECT tenant_id, person_id, next_at FROM account_lockout WHERE next_at <= $1
			UNION SELECT l.tenant_id, l.person_id, l.next_at FROM tenant t JOIN account_lockout l ON l.tenant_id = t.id
			WHERE t.sandbox AND l.next_at <= $1 + t.clock_ahead
			ORDER BY next_at LIMIT $2) due
		GROUP BY tenant_id`, h.clock.Now(), lockoutBatch)
	if err != nil {
		return 0, fmt.Errorf("find lockouts: %w", err)
	}
	n := 0
	var failed error
	for _, d := range all {
		n += len(d.Persons)
		ctx, err := h.clocks.In(tenant.With(ctx, d.Tenant))
		if err == nil {
			err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
				_, err := h.settleLockouts(ctx, tx, d.Persons, h.now(ctx))
				return err
			})
		}
		failed = errors.Join(failed, err)
	}
	if n > 0 {
		h.revoked.WakePublisher()
	}
	return n, failed
}

// Run begins and ends lockouts when they are due, until ctx ends.
func (h *Handler) Run(ctx context.Context, log *slog.Logger) error {
	ticker := time.NewTicker(lockoutEvery)
	defer ticker.Stop()
	for {
		n, err := h.SweepLockouts(ctx)
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "lockouts that are due could not be settled", "error", err)
		}
		if err == nil && n >= lockoutBatch {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
