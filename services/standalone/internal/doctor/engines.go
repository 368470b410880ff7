package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

const (
	// apart is how far the clocks of two machines may be from each other before somebody
	// should see to it, and tooFar when what is decided by them goes wrong.
	apart  = time.Second
	tooFar = 30 * time.Second
	// maxDeadLetters is how many dead letters are counted.
	maxDeadLetters = 1000
	// fewConnections is the share of a server's connections from which on few are left.
	fewConnections = 0.9
)

// databases looks at the database server and at the database of each service.
func (e *examination) databases(ctx context.Context) {
	for i, service := range e.services {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		pool, err := e.open(ctx, service.Name)
		if err != nil {
			cancel()
			e.add("database "+service.Name, Failed, databaseAdvice(e.Database), "%v", err)
			continue
		}
		if i == 0 {
			e.databaseServer(ctx, pool)
		}
		e.schema(ctx, pool, service)
		e.restored(ctx, pool, service)
		e.times(ctx, pool, service)
		if service.DeadLetters {
			e.deadLetters(ctx, pool, service.Name)
		}
		pool.Close()
		cancel()
	}
}

func databaseAdvice(of privatepg.Config) string {
	if of.URL == "" {
		return "start the server: its private PostgreSQL runs with it; if it runs, look for PostgreSQL's lines in its log"
	}
	return "see whether the database server runs, and whether --database-url, its password and pg_hba.conf let the role in"
}

func (e *examination) open(ctx context.Context, service string) (*pg.Pool, error) {
	url, err := privatepg.Existing(ctx, e.Database, filepath.Join(e.StateDir, "postgresql"), service)
	if err != nil {
		return nil, err
	}
	return pg.Open(ctx, pg.Config{URL: url, AllowInsecure: e.Database.AllowInsecure, MaxConns: 1, StartupWait: time.Second}, e.log)
}

// databaseServer looks at the server itself: its version, its connections and its clock.
func (e *examination) databaseServer(ctx context.Context, pool *pg.Pool) {
	var version string
	var used, most int
	var theirs time.Time
	before := e.clock.Now()
	err := pool.QueryRow(tenant.All(ctx), `SELECT current_setting('server_version'), (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int,
		current_setting('max_connections')::int, clock_timestamp()`).Scan(&version, &used, &most, &theirs)
	after := e.clock.Now()
	if err != nil {
		e.add("database server", Failed, databaseAdvice(e.Database), "%v", err)
		return
	}
	found := fmt.Sprintf("PostgreSQL %s, %d of %d connections are in use", version, used, most)
	if float64(used) >= fewConnections*float64(most) {
		e.add("database server", Warning, "raise max_connections, lower --database-max-conns of the programs, or put a pooler before it (docs/separate-processes.md)", "%s", found)
	} else {
		e.add("database server", OK, "", "%s", found)
	}
	e.clocks(before, theirs, after)
}

// clocks compares the clock of the database server with that of this machine, which was
// asked before and after.
func (e *examination) clocks(before, theirs, after time.Time) {
	const check, do = "clocks", "let both machines follow a time server (chrony, systemd-timesyncd)"
	var off time.Duration
	switch {
	case theirs.Before(before):
		off = before.Sub(theirs)
	case theirs.After(after):
		off = theirs.Sub(after)
	}
	found := fmt.Sprintf("the database server's clock is %s from this machine's", off.Round(time.Millisecond))
	switch {
	case off >= tooFar:
		e.add(check, Failed, do, "%s: tokens are refused, or hold too long", found)
	case off >= apart:
		e.add(check, Warning, do, "%s", found)
	default:
		e.add(check, OK, "", "%s", found)
	}
}

// schema looks at whether a database has the schema that this program needs.
func (e *examination) schema(ctx context.Context, pool *pg.Pool, service Service) {
	check := "database " + service.Name
	err := pg.CheckSchema(tenant.All(ctx), pool, service.Migrations...)
	if behind := new(pg.SchemaBehind); errors.As(err, &behind) {
		e.add(check, Failed, "rotaloom migrate while nothing serves, or start the program of this version, which does so too", "%v", err)
		return
	}
	if err != nil {
		e.add(check, Failed, databaseAdvice(e.Database), "%v", err)
		return
	}
	e.add(check, OK, "", "%s has the schema of this program", pool.Database())
}

// restored looks at whether a database refuses writes because it was restored.
func (e *examination) restored(ctx context.Context, pool *pg.Pool, service Service) {
	reason, err := restore.Reason(tenant.All(ctx), pool)
	if err == nil && reason != "" { // An error is one of the schema, which was looked at.
		e.add("restore of "+service.Name, Failed, "rotaloom restore finish lists what was lost, and has the service accept writes again", "writes are refused: %s", reason)
	}
}

// times looks for times that a service wrote and that have not come yet: the clock of the
// database server was ahead once, or is behind.
func (e *examination) times(ctx context.Context, pool *pg.Pool, service Service) {
	check := "times of " + service.Name
	var now, newest time.Time
	if err := pool.QueryRow(tenant.All(ctx), "SELECT clock_timestamp()").Scan(&now); err != nil {
		e.add(check, Failed, databaseAdvice(e.Database), "%v", err)
		return
	}
	for _, statement := range service.NewestTimes {
		var found *time.Time
		if err := pool.QueryRow(tenant.All(ctx), statement, now.Add(apart)).Scan(&found); err != nil {
			e.add(check, Failed, databaseAdvice(e.Database), "%v", err)
			return
		}
		if found != nil && found.After(newest) {
			newest = *found
		}
	}
	if newest.IsZero() {
		e.add(check, OK, "", "none lies ahead of the clock")
		return
	}
	e.add(check, Warning, "see whether the clock of the database server is right; if it is, it was ahead once: what was written then keeps its order and its times "+
		"(docs/operations/clocks.md)", "the newest lies %s ahead of the clock: %s", newest.Sub(now).Round(time.Second), newest.UTC().Format(time.RFC3339))
}

// deadLetters counts the events that consumers gave up.
func (e *examination) deadLetters(ctx context.Context, pool *pg.Pool, service string) {
	check := "dead letters of " + service
	found, err := outbox.NewDeadLetters(pool).List(tenant.All(ctx), 0, maxDeadLetters)
	switch {
	case err != nil:
		e.add(check, Failed, databaseAdvice(e.Database), "%v", err)
	case len(found) > 0:
		e.add(check, Warning, fmt.Sprintf("rotaloom deadletter list --service %s shows why; replay has them handled once more", service),
			"%d events were given up, at least", len(found))
	default:
		e.add(check, OK, "", "none")
	}
}

// broker looks at the NATS server, when it is not the one in the process that serves.
func (e *examination) broker(ctx context.Context) {
	const check, do = "NATS", "see whether the servers run, and whether --nats-url, credentials and certificates are right"
	if e.NATS.URL == "" {
		e.add(check, Skipped, "", "it runs in the process that serves, whose /readyz speaks for it")
		return
	}
	if err := natsconn.Probe(e.NATS); err != nil {
		e.add(check, Failed, do, "%v", err)
		return
	}
	conn, err := natsconn.Connect(e.NATS, "doctor", e.log)
	if err != nil {
		e.add(check, Failed, do, "%v", err)
		return
	}
	defer conn.Close()
	trip, err := conn.RTT()
	if err != nil {
		e.add(check, Failed, do, "no server answers at the addresses of --nats-url: %v", err)
		return
	}
	js, err := jetstream.New(conn)
	if err != nil {
		e.add(check, Failed, do, "%v", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	account, err := js.AccountInfo(ctx)
	if err != nil {
		e.add(check, Failed, "switch JetStream on at the servers (jetstream {} in nats-server.conf), and let the user reach it", "JetStream: %v", err)
		return
	}
	e.add(check, OK, "", "version %s, round trip %s, %d streams of %d MiB", conn.ConnectedServerVersion(), trip.Round(time.Microsecond), account.Streams, account.Store>>20)
}
