package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

const (
	// apart is the clock difference between two machines that needs attention, and tooFar the difference that
	// causes wrong decisions.
	apart  = time.Second
	tooFar = 30 * time.Second
	// maxDeadLetters bounds the count of dead letters.
	maxDeadLetters = 1000
	// fewConnections is the share of used connections that causes a warning.
	fewConnections = 0.9
)

// databases checks the database server and the database of each service.
func (e *examination) databases(ctx context.Context) {
	for i, service := range e.services {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		pool, err := e.openPool(ctx, service.Name)
		if err != nil {
			cancel()
			e.add("database "+service.Name, Failed, permissionAdvice(err, databaseAdvice(e.Database)), "%v", err)
			continue
		}
		if i == 0 {
			e.databaseServer(ctx, pool)
		}
		e.schema(ctx, pool, service)
		e.checkRestored(ctx, pool, service)
		e.times(ctx, pool, service)
		if service.DeadLetters {
			e.deadLetters(ctx, pool, service.Name)
		}
		pool.Close()
		cancel()
	}
}

func databaseAdvice(cfg privatepg.Config) string {
	if cfg.URL == "" {
		return "start the server: it runs the private PostgreSQL; if the server runs, look for PostgreSQL's lines in its log"
	}
	return "check that the database server runs, and that --database-url, its password and pg_hba.conf admit the role"
}

func (e *examination) openPool(ctx context.Context, service string) (*pg.Pool, error) {
	url, err := privatepg.Existing(ctx, e.Database, filepath.Join(e.StateDir, "postgresql"), service)
	if err != nil {
		return nil, err
	}
	return pg.Open(ctx, pg.Config{URL: url, AllowInsecure: e.Database.AllowInsecure, MaxConns: 1, StartupWait: time.Second}, e.log)
}

// databaseServer checks the version, connections and clock of the server.
func (e *examination) databaseServer(ctx context.Context, pool *pg.Pool) {
	var version string
	var used, most int
	var theirs time.Time
	before := e.clock.Now()
	err := pool.QueryRow(tenant.All(ctx), `SELECT current_setting('server_version'), (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int,
		current_setting('max_connections')::int, clock_timestamp()`).Scan(&version, &used, &most, &theirs)
	after := e.clock.Now()
	if err != nil {
		e.add("database server", Failed, permissionAdvice(err, databaseAdvice(e.Database)), "%v", err)
		return
	}
	found := fmt.Sprintf("PostgreSQL %s, %d of %d connections are in use", version, used, most)
	if float64(used) >= fewConnections*float64(most) {
		e.add("database server", Warning, "raise max_connections, lower --database-max-conns of the programs, or put a pooler in front of it (docs/separate-processes.md)", "%s", found)
	} else {
		e.add("database server", OK, "", "%s", found)
	}
	e.clocks(before, theirs, after)
}

// clocks compares the clock of the database server with the clock of this machine, which was read before and
// after.
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

// schema checks that a database has the schema of this program.
func (e *examination) schema(ctx context.Context, pool *pg.Pool, service Service) {
	check := "database " + service.Name
	err := pg.CheckSchema(tenant.All(ctx), pool, service.Migrations...)
	if behind := new(pg.SchemaBehind); errors.As(err, &behind) {
		e.add(check, Failed, "run rotaloom migrate while no process serves, or start the program of this version, which migrates too", "%v", err)
		return
	}
	if err != nil {
		e.add(check, Failed, permissionAdvice(err, databaseAdvice(e.Database)), "%v", err)
		return
	}
	denied, err := deniedTables(ctx, pool)
	switch {
	case err != nil:
		e.add(check, Failed, permissionAdvice(err, databaseAdvice(e.Database)), "%v", err)
	case denied != "":
		e.add(check, Failed, databasePermissionAdvice(&pgconn.PgError{Code: insufficientPrivilege}, ""), "the role may not read or write tables of %s: %s", pool.Database(), denied)
	default:
		e.add(check, OK, "", "%s has the schema of this program", pool.Database())
	}
}

// checkRestored checks whether a database refuses writes because it was restored.
func (e *examination) checkRestored(ctx context.Context, pool *pg.Pool, service Service) {
	reason, err := restore.Reason(tenant.All(ctx), pool)
	if err == nil && reason != "" { // schema has reported the error already.
		e.add("restore of "+service.Name, Failed, "run rotaloom restore finish: it lists what was lost, and makes the service accept writes again", "writes are refused: %s", reason)
	}
}

// times looks for stored times in the future: the clock of the database server was ahead earlier, or is behind
// now.
func (e *examination) times(ctx context.Context, pool *pg.Pool, service Service) {
	check := "times of " + service.Name
	var now, newest time.Time
	if err := pool.QueryRow(tenant.All(ctx), "SELECT clock_timestamp()").Scan(&now); err != nil {
		e.add(check, Failed, permissionAdvice(err, databaseAdvice(e.Database)), "%v", err)
		return
	}
	for _, statement := range service.NewestTimes {
		var found *time.Time
		if err := pool.QueryRow(tenant.All(ctx), statement, now.Add(apart)).Scan(&found); err != nil {
			e.add(check, Failed, permissionAdvice(err, databaseAdvice(e.Database)), "%v", err)
			return
		}
		if found != nil && found.After(newest) {
			newest = *found
		}
	}
	if newest.IsZero() {
		e.add(check, OK, "", "no stored time is ahead of the clock")
		return
	}
	e.add(check, Warning, "check the clock of the database server; if it is right, it was ahead earlier, and rows from then keep their order and times "+
		"(docs/operations/clocks.md)", "the newest time is %s ahead of the clock: %s", newest.Sub(now).Round(time.Second), newest.UTC().Format(time.RFC3339))
}

// deadLetters counts the dead-lettered events.
func (e *examination) deadLetters(ctx context.Context, pool *pg.Pool, service string) {
	check := "dead letters of " + service
	found, err := outbox.NewDeadLetters(pool).List(tenant.All(ctx), 0, maxDeadLetters)
	switch {
	case err != nil:
		e.add(check, Failed, permissionAdvice(err, databaseAdvice(e.Database)), "%v", err)
	case len(found) > 0:
		e.add(check, Warning, fmt.Sprintf("rotaloom deadletter list --service %s shows the reasons; rotaloom deadletter replay retries the events", service),
			"at least %d events are dead-lettered", len(found))
	default:
		e.add(check, OK, "", "none")
	}
}

// broker checks the NATS server, unless it runs inside the serving process.
func (e *examination) broker(ctx context.Context) {
	const check, do = "NATS", "check that the servers run, and that --nats-url, credentials and certificates are right"
	if e.NATS.URL == "" {
		e.add(check, Skipped, "", "it runs in the serving process; see that process's /readyz")
		return
	}
	// A connection that tries again hides why the first try failed.
	conn, err := natsconn.Connect(e.NATS, "doctor", e.log, nats.RetryOnFailedConnect(false))
	if natsconn.Unavailable(err) {
		e.add(check, Failed, do, "no server answers at the addresses of --nats-url: %v", err)
		return
	}
	if err != nil {
		e.add(check, Failed, permissionAdvice(err, do), "%v", err)
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
	// Servers do not answer a request that they refuse.
	conn.SetErrorHandler(func(*nats.Conn, *nats.Subscription, error) { cancel() })
	account, err := js.AccountInfo(ctx)
	if err != nil {
		err = cmp.Or(conn.LastError(), err)
		e.add(check, Failed, permissionAdvice(err, "enable JetStream on the servers (jetstream {} in nats-server.conf), and permit the user to use it"), "JetStream: %v", err)
		return
	}
	e.add(check, OK, "", "version %s, round trip %s, %d streams of %d MiB", conn.ConnectedServerVersion(), trip.Round(time.Microsecond), account.Streams, account.Store>>20)
}
