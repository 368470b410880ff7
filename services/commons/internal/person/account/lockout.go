package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

const (
	// lockoutBatch is the maximum number of persons in one call to auth.
	lockoutBatch = 500
	// lockoutEvery is the interval between checks for intents that another replica stored and
	// could not send. lockoutRetry is the delay before a failed intent is sent again.
	lockoutEvery = 5 * time.Second
	lockoutRetry = 5 * time.Second
	// lockoutTimeout limits one call.
	lockoutTimeout = 10 * time.Second
)

// Lockouts notifies auth of the days when persons may not log in. A transaction that changes
// these days also stores a lockout intent (lockout_intent) with the initiator's name. The
// worker reads the days from the persons' own rows when it sends them, never from an event:
// permission to publish events must not give control over logins.
type Lockouts struct {
	pool    *pg.Pool
	users   authv1.UserServiceClient
	zones   *civil.Zones
	log     *slog.Logger
	pending chan struct{}
}

// NewLockouts returns Lockouts, which compute days in each person's time zone.
func NewLockouts(pool *pg.Pool, users authv1.UserServiceClient, zones *civil.Zones, log *slog.Logger) *Lockouts {
	return &Lockouts{pool: pool, users: users, zones: zones, log: log, pending: make(chan struct{}, 1)}
}

// ChangesLockout returns the items that change the lockout days of their persons.
func ChangesLockout(items []store.Change) []store.Change {
	return slices.DeleteFunc(slices.Clone(items), func(p store.Change) bool {
		if p.Old == nil {
			return len(p.LockedOutDays()) == 0
		}
		return p.Old.Zone == p.Zone && proto.Equal(p.Old.Zones, p.Zones) && slices.Equal(p.Old.LockedOutDays(), p.LockedOutDays())
	})
}

// InsertIntents stores the intents to notify auth, in the transaction that changes the
// persons.
func (l *Lockouts) InsertIntents(ctx context.Context, tx pgx.Tx, persons []store.Change) error {
	var ids []int64
	for _, p := range ChangesLockout(persons) {
		ids = append(ids, p.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	by := deferredInitiator(ctx)
	_, err := tx.Exec(ctx, `INSERT INTO lockout_intent AS i (tenant_id, person_id, initiator_user, initiator_person_id, initiator_client, request_id)
		SELECT $1, q.id, $3, $4, $5, $6 FROM unnest($2::bigint[]) AS q (id) ORDER BY q.id
		ON CONFLICT (tenant_id, person_id) DO UPDATE SET version = i.version + 1, due_at = now(), initiator_user = excluded.initiator_user,
			initiator_person_id = excluded.initiator_person_id, initiator_client = excluded.initiator_client, request_id = excluded.request_id`,
		tenant.Of(ctx), ids, by.GetUserName(), by.GetPersonId(), by.GetClientId(), by.GetRequestId())
	if err != nil {
		return fmt.Errorf("note lockouts: %w", err)
	}
	return nil
}

// Wake makes the worker send committed intents immediately.
func (l *Lockouts) Wake() {
	select {
	case l.pending <- struct{}{}:
	default:
	}
}

// Run sends stored intents to auth until ctx ends.
func (l *Lockouts) Run(ctx context.Context) error {
	ticker := time.NewTicker(lockoutEvery)
	defer ticker.Stop()
	for {
		n, err := l.sendDue(ctx)
		if err != nil && ctx.Err() == nil {
			l.log.WarnContext(ctx, "auth could not be notified when persons may not log in", "error", err)
		}
		if err == nil && n == lockoutBatch {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-l.pending:
		}
	}
}

// sendDue sends the due intents to auth and returns their number, at most lockoutBatch. It
// postpones a failed intent until after the other due ones. No intent waits for longer than
// lockoutRetry: a later due time was written by a clock that was ahead.
func (l *Lockouts) sendDue(ctx context.Context) (int, error) {
	due, err := pg.Collect(tenant.All(ctx), l.pool, pgx.RowToStructByPos[intent], `SELECT tenant_id, person_id, version, initiator_user, initiator_person_id, initiator_client, request_id
		FROM lockout_intent WHERE due_at <= now() OR due_at > now() + make_interval(secs => $2) ORDER BY due_at, tenant_id, person_id LIMIT $1`,
		lockoutBatch, lockoutRetry.Seconds())
	if err != nil {
		return 0, fmt.Errorf("find lockouts to send: %w", err)
	}
	var failed error
	for _, e := range groupIntents(due) {
		if err := l.send(tenant.With(ctx, e.tenant), e); err != nil {
			failed = errors.Join(failed, err, l.postpone(tenant.With(ctx, e.tenant), e))
		}
	}
	return len(due), failed
}

// send notifies auth of the present state of some persons, and deletes their intents.
func (l *Lockouts) send(ctx context.Context, e *intentGroup) error {
	ctx, cancel := context.WithTimeout(ctx, lockoutTimeout)
	defer cancel()
	ids := make([]int64, len(e.intents))
	for i := range e.intents {
		ids[i] = e.intents[i].Person
	}
	persons, err := store.Load(ctx, l.pool, ids)
	if err != nil {
		return err
	}
	req := &authv1.LockOutUsersRequest{Initiator: e.initiator}
	for _, id := range ids {
		if p := persons[id]; p != nil { // The account of a deleted person is removed, too.
			lockout, err := l.personLockout(p)
			if err != nil {
				return err
			}
			req.Users = append(req.Users, lockout)
		}
	}
	if err := l.lockOut(ctx, req); err != nil {
		return err
	}
	return l.deleteIntents(ctx, e)
}

// lockOut sends a request to auth. Auth does not lock out the last administrator. Such a
// change is refused before it is stored, unless two administrators lock each other out at the
// same time.
func (l *Lockouts) lockOut(ctx context.Context, req *authv1.LockOutUsersRequest) error {
	for len(req.GetUsers()) > 0 {
		_, err := l.users.LockOutUsers(ctx, req)
		if err == nil {
			return nil
		}
		offsets := fault.FromError(err).Details.GetErrorOffsets()
		if len(offsets) == 0 {
			return fmt.Errorf("lock users out: %w", err)
		}
		l.log.ErrorContext(ctx, "auth does not lock out some users", "users", len(offsets), "error", err)
		for _, at := range slices.Backward(offsets) {
			if int(at) < len(req.Users) {
				req.Users = slices.Delete(req.Users, int(at), int(at)+1)
			}
		}
	}
	return nil
}

// deleteIntents deletes the intents of a group that have not changed since they were read.
func (l *Lockouts) deleteIntents(ctx context.Context, e *intentGroup) error {
	ids, versions := e.columns()
	_, err := settles.Exec(ctx, l.pool, `DELETE FROM lockout_intent i USING unnest($2::bigint[], $3::bigint[]) AS q (id, version)
		WHERE i.tenant_id = $1 AND i.person_id = q.id AND i.version = q.version`, e.tenant, ids, versions)
	return err
}

// postpone delays the intents of a group, so that others are sent first.
func (l *Lockouts) postpone(ctx context.Context, e *intentGroup) error {
	ids, versions := e.columns()
	_, err := settles.Exec(ctx, l.pool, `UPDATE lockout_intent i SET due_at = now() + make_interval(secs => $4)
		FROM unnest($2::bigint[], $3::bigint[]) AS q (id, version)
		WHERE i.tenant_id = $1 AND i.person_id = q.id AND i.version = q.version`, e.tenant, ids, versions, lockoutRetry.Seconds())
	return err
}

// personLockout returns the lockout of a person as auth receives it.
func (l *Lockouts) personLockout(p *store.Person) (*authv1.UserLockout, error) {
	clocks, err := p.Clocks(l.zones)
	if err != nil {
		return nil, err
	}
	out := &authv1.UserLockout{PersonId: p.ID, Version: p.Version}
	for _, days := range p.LockedOutDays() {
		out.Periods = append(out.Periods, &authv1.LockoutPeriod{
			From: clocks.Unix(civil.DateTime{Date: days.From}), To: clocks.Unix(civil.DateTime{Date: days.To}),
		})
	}
	return out, nil
}
