package user

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

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
		if slices.ContainsFunc(u.GetPeriods(), func(p *authv1.LockoutPeriod) bool { return p.GetTo() > h.clock.Now().Unix() }) {
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
		return h.settleLockouts(ctx, tx, persons)
	})
	if err != nil {
		return nil, fmt.Errorf("lock users out: %w", err)
	}
	h.revoked.WakePublisher()
	return &emptypb.Empty{}, nil
}

// settleLockouts applies the current lockouts to users, revokes the tokens of users that are locked out, and
// stores the time of the next change.
func (h *Handler) settleLockouts(ctx context.Context, tx pgx.Tx, persons []int64) error {
	tenantID := tenant.Of(ctx)
	now := h.clock.Now()
	if _, err := tx.Exec(ctx, `WITH due AS (
			SELECT person_id, (SELECT min(b.at) FROM unnest(periods) p, LATERAL (VALUES (lower(p)), (upper(p))) b (at) WHERE b.at > $3) AS next_at
			FROM account_lockout WHERE tenant_id = $1 AND person_id = ANY($2) ORDER BY person_id FOR UPDATE)
		UPDATE account_lockout l SET next_at = due.next_at FROM due
		WHERE l.tenant_id = $1 AND l.person_id = due.person_id`, tenantID, persons, now); err != nil {
		return err
	}
	var ended []int64
	var id int64
	var out bool
	if err := pg.ForEach(ctx, tx, []any{&id, &out}, func() error {
		if out {
			ended = append(ended, id)
		}
		return nil
	}, `UPDATE app_user u SET locked_out = NOT u.locked_out, updated_at = now() FROM account_lockout l
		WHERE u.tenant_id = $1 AND u.person_id = ANY($2) AND l.tenant_id = $1 AND l.person_id = u.person_id
		  AND u.locked_out <> (l.periods @> $3::timestamptz) RETURNING u.person_id, u.locked_out`, tenantID, persons, now); err != nil {
		return err
	}
	return revoked.Persons(ctx, tx, ended, now)
}

// SweepLockouts applies due lockouts of all tenants, and returns the number of persons that it checked, at most
// lockoutBatch.
func (h *Handler) SweepLockouts(ctx context.Context) (int, error) {
	type due struct {
		Tenant  int64
		Persons []int64
	}
	all, err := pg.Collect(tenant.All(ctx), h.pool, pgx.RowToStructByPos[due], `SELECT tenant_id, array_agg(person_id) FROM (
			SELECT tenant_id, person_id FROM account_lockout WHERE next_at <= $1 ORDER BY next_at LIMIT $2) due
		GROUP BY tenant_id`, h.clock.Now(), lockoutBatch)
	if err != nil {
		return 0, fmt.Errorf("find lockouts: %w", err)
	}
	n := 0
	var failed error
	for _, d := range all {
		n += len(d.Persons)
		err := pg.InTx(tenant.With(ctx, d.Tenant), h.pool, func(ctx context.Context, tx pgx.Tx) error {
			return h.settleLockouts(ctx, tx, d.Persons)
		})
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
