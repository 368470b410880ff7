// Package loginlimit slows down password guessing. It counts failed log-ins by user name and by address, and
// locks a name after too many failures in a row. It treats names without a user in the same way, so that
// attackers cannot find out which names exist.
package loginlimit

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// Config contains the limits. Zero values mean the defaults.
type Config struct {
	UserFailures    int           `name:"login-user-failures" default:"10" help:"Number of failed log-ins of one user name within the window after which further ones are refused until the window ends."`
	AddressFailures int           `name:"login-address-failures" default:"200" help:"Number of failed log-ins from one address within the window after which further ones are refused until the window ends."`
	Window          time.Duration `name:"login-window" default:"1m" help:"Length of the window for counting failed log-ins."`
	LockAfter       int           `name:"login-lock-after" default:"50" help:"Number of failed log-ins in a row that lock a user name."`
	LockFor         time.Duration `name:"login-lock-for" default:"30m" help:"How long a user name stays locked, and how long failures in a row are counted."`
}

const (
	sweepEvery = time.Minute
	sweepBatch = 50_000
)

// Limiter counts failures in the database, for all replicas. It is safe for concurrent use.
type Limiter struct {
	cfg   Config
	pool  *pg.Pool
	clock clock.Clock
	log   *slog.Logger
}

// New returns a Limiter.
func New(cfg Config, pool *pg.Pool, clk clock.Clock, log *slog.Logger) *Limiter {
	return &Limiter{cfg: defaults.Fill(cfg), pool: pool, clock: clk, log: log}
}

// Attempt is one log-in attempt.
type Attempt struct {
	limiter  *Limiter
	tenantID int64
	// user and address are the keys of the counters; address is nil if it is unknown.
	user, address []byte
	// Locked means that the attempt fails, even with the right password.
	Locked bool
	// counted means that the user had failures when they were last read.
	counted bool
}

// Begin starts the log-in of a user from an address, which may be "". It returns 429 if either has failed too
// often.
func (l *Limiter) Begin(ctx context.Context, name, address string) (*Attempt, error) {
	a := &Attempt{limiter: l, tenantID: tenant.Of(ctx), user: userKey(name), address: addressKey(address)}
	return a, a.checkLocked(ctx)
}

// checkLocked reads the failures, and returns 429 if there are too many.
func (a *Attempt) checkLocked(ctx context.Context) error {
	found, err := pg.Collect(ctx, a.limiter.pool, pgx.RowToStructByPos[failureCount], `SELECT key = $2, failures, window_ends, coalesce(locked_until, '-infinity') > $4
		FROM login_failure WHERE tenant_id = $1 AND key IN ($2, $3)`, a.tenantID, a.user, a.address, a.limiter.clock.Now())
	if err != nil {
		return fmt.Errorf("look for failed log-ins: %w", err)
	}
	a.Locked, a.counted = false, false
	for _, c := range found {
		a.Locked = a.Locked || c.OfUser && c.Locked
		a.counted = a.counted || c.OfUser
	}
	for _, c := range found {
		// A locked name gets no 429, so that its responses reveal nothing.
		if c.Failures >= a.limiter.limit(c.OfUser) && !(c.OfUser && a.Locked) {
			if err := a.limiter.wait(c.WindowEnds); err != nil {
				return err
			}
		}
	}
	return nil
}

// failureCount is the counter of a name or an address.
type failureCount struct {
	OfUser     bool
	Failures   int
	WindowEnds time.Time
	Locked     bool
}

// RecordFailure counts a wrong password. It returns 429 if concurrent failures together exceed the limit.
func (a *Attempt) RecordFailure(ctx context.Context) error {
	keys := [][]byte{a.user, a.address}
	if a.Locked {
		keys = keys[1:]
	}
	return a.limiter.count(ctx, a.user, keys)
}

const counts pg.Unaudited = "log-ins have audit rows of their own; failure counters are temporary"

// RecordSuccess resets the failures of the user. It returns false, or 429, if the password was right but the
// limit was reached before. A failure at the same moment may remain counted.
func (a *Attempt) RecordSuccess(ctx context.Context) (bool, error) {
	if err := a.checkLocked(ctx); err != nil || a.Locked {
		return false, err
	}
	if !a.counted {
		return true, nil
	}
	_, err := counts.Exec(ctx, a.limiter.pool, `DELETE FROM login_failure WHERE tenant_id = $1 AND key = $2`, a.tenantID, a.user)
	if err != nil {
		return false, fmt.Errorf("forget failed log-ins: %w", err)
	}
	return true, nil
}

// RecordClientFailure counts a wrong client secret against an address.
func (l *Limiter) RecordClientFailure(ctx context.Context, address string) error {
	return l.count(ctx, nil, [][]byte{addressKey(address)})
}

// count adds a failure to each key, except nil keys. user is the key that can be locked.
func (l *Limiter) count(ctx context.Context, user []byte, keys [][]byte) error {
	now := l.clock.Now()
	rows, err := counts.Query(ctx, l.pool, `INSERT INTO login_failure AS f (tenant_id, key, failures, window_ends, streak, locked_until, forget_at)
		SELECT $1, k, 1, $5, 1, CASE WHEN k = $3 AND $6 <= 1 THEN $7::timestamptz END, greatest($5, $7)
		FROM unnest($2::bytea[]) k WHERE k IS NOT NULL ORDER BY k
		ON CONFLICT (tenant_id, key) DO UPDATE SET
			failures = CASE WHEN f.window_ends > $4 THEN f.failures + 1 ELSE 1 END,
			window_ends = CASE WHEN f.window_ends > $4 THEN f.window_ends ELSE excluded.window_ends END,
			streak = CASE WHEN f.forget_at > $4 THEN f.streak + 1 ELSE 1 END,
			locked_until = CASE WHEN f.key = $3 AND CASE WHEN f.forget_at > $4 THEN f.streak + 1 ELSE 1 END >= $6 THEN $7 ELSE f.locked_until END,
			forget_at = excluded.forget_at
		RETURNING f.key IS NOT DISTINCT FROM $3, f.failures, f.window_ends, coalesce(f.locked_until, '-infinity') > $4`,
		tenant.Of(ctx), keys, user, now, now.Add(l.cfg.Window), l.cfg.LockAfter, now.Add(l.cfg.LockFor))
	if err != nil {
		return fmt.Errorf("count failed log-in: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[failureCount])
	if err != nil {
		return fmt.Errorf("count failed log-in: %w", err)
	}
	for _, c := range found {
		if c.OfUser && c.Locked {
			l.log.WarnContext(ctx, "a user name is locked after too many failed log-ins", "until", now.Add(l.cfg.LockFor))
		} else if c.Failures > l.limit(c.OfUser) {
			return l.wait(c.WindowEnds)
		}
	}
	return nil
}

func (l *Limiter) limit(ofUser bool) int {
	if ofUser {
		return l.cfg.UserFailures
	}
	return l.cfg.AddressFailures
}

// wait returns the 429 until a time, or nil if that has passed. RFC 6749 has no error name for it; slow_down of
// RFC 8628 fits best.
func (l *Limiter) wait(until time.Time) error {
	left := until.Sub(l.clock.Now())
	if left <= 0 {
		return nil
	}
	return fault.TooMany("Too many log-ins failed. Wait as long as Retry-After says, and try again.", left).WithOAuth("slow_down")
}

// Run deletes expired counters of all tenants until ctx ends.
func (l *Limiter) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		_, err := counts.Exec(tenant.All(ctx), l.pool, `DELETE FROM login_failure WHERE (tenant_id, key) IN (
			SELECT tenant_id, key FROM login_failure WHERE forget_at <= $1 LIMIT $2)`, l.clock.Now(), sweepBatch)
		if err != nil && ctx.Err() == nil {
			l.log.WarnContext(ctx, "expired counters of failed log-ins could not be deleted", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// userKey returns the counter key of a user name. It folds names as the user stores do (a directory ignores
// case and repeated spaces too). Invalid names count unfolded.
func userKey(name string) []byte {
	key, err := username.Key(name)
	if err != nil {
		key = name
	}
	sum := sha256.Sum256([]byte("user:" + key))
	return sum[:]
}

// addressKey returns the counter key of an address. An IPv6 /64 network counts as one address, because one
// customer gets a whole network.
func addressKey(address string) []byte {
	if address == "" {
		return nil
	}
	if ip, err := netip.ParseAddr(address); err == nil {
		ip = ip.Unmap().WithZone("")
		address = ip.String()
		if ip.Is6() {
			address = netip.PrefixFrom(ip, 64).Masked().String()
		}
	}
	sum := sha256.Sum256([]byte("address:" + address))
	return sum[:]
}
