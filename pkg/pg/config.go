// Package pg connects services to PostgreSQL: it builds every connection in one place, retries
// transactions on request of the database, reads consistent snapshots, and applies migrations.
// Errors are in pgerr, advisory locks in advisory.
package pg

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/outage"
	"github.com/rotaloom/rotaloom/pkg/tracing"
)

// Programs wait for a database that does not respond.
const (
	// UntilReachable is the StartupWait of services. A service that ended would start later than the
	// database, because the supervisor of its process backs off as well.
	UntilReachable = time.Duration(math.MaxInt64)
	// CommandWait is the time of commands, because their callers wait for the result.
	CommandWait = 30 * time.Second
)

// Config is the database of a service, with the limits of its connections. Only the URL is
// required.
//
// The tenant of a connection is a setting of its session. So without DirectURL, a proxy between the
// service and PostgreSQL must not share sessions. With DirectURL, URL leads to a pooler that
// assigns a session to each transaction, such as PgBouncer in transaction mode; work that needs a
// longer session goes past the pooler.
type Config struct {
	URL              obs.Secret    `name:"url" env:"URL" help:"PostgreSQL URL of the service's own database, postgres://user@host/name."`
	DirectURL        obs.Secret    `name:"direct-url" env:"DIRECT_URL" help:"URL of the same database past a pooler. Set it if the other URL leads to a pooler in transaction mode, such as PgBouncer; migrations and long locks use this URL."`
	MaxConns         int32         `name:"max-conns" env:"MAX_CONNS" default:"16" help:"Largest number of connections of one process."`
	MinConns         int32         `name:"min-conns" env:"MIN_CONNS" default:"0" help:"Connections kept open when idle."`
	ConnLifetime     time.Duration `name:"conn-lifetime" env:"CONN_LIFETIME" default:"1h" help:"Age at which a connection is replaced."`
	ConnectTimeout   time.Duration `name:"connect-timeout" env:"CONNECT_TIMEOUT" default:"5s" help:"Time that one attempt to connect may take."`
	StartupWait      time.Duration `name:"startup-wait" env:"STARTUP_WAIT" help:"How long a starting program waits for the database. Without it, services wait until the database responds, and commands wait 30 seconds."`
	AllowInsecure    bool          `name:"allow-insecure" env:"ALLOW_INSECURE" help:"Connect to a database on another machine without verifying its identity."`
	StatementTimeout time.Duration `name:"statement-timeout" env:"STATEMENT_TIMEOUT" default:"30s" help:"Time after which the database cancels a statement."`

	// Outages logs when the server becomes unreachable and reachable again. Programs set it.
	Outages *outage.Reporter `kong:"-"`
}

// poolConfig builds the configuration of every pool.
func (c Config) poolConfig() (*pgxpool.Config, error) {
	if c.URL == "" {
		return nil, fmt.Errorf("pg: no database URL is set")
	}
	pc, err := pgxpool.ParseConfig(c.URL.Reveal())
	if err != nil {
		// pgx keeps the password out of this error.
		return nil, fmt.Errorf("pg: read database URL: %w", err)
	}
	if !c.AllowInsecure {
		if err := CheckSecure(pc.ConnConfig); err != nil {
			return nil, err
		}
	}
	c = defaults.Fill(c)
	pc.MaxConns = c.MaxConns
	pc.MinConns = c.MinConns
	pc.MaxConnLifetime = c.ConnLifetime
	// Without jitter, connections that were opened together would be replaced together.
	pc.MaxConnLifetimeJitter = pc.MaxConnLifetime / 10
	pc.PingTimeout = c.ConnectTimeout
	pc.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		civil.Register(conn.TypeMap())
		return nil
	}
	c.connSettings(pc.ConnConfig)
	if c.behindPooler() {
		c.poolerSettings(pc.ConnConfig)
	} else {
		pc.PrepareConn = setTenant
	}
	return pc, nil
}

// behindPooler reports whether each transaction may get another session.
func (c Config) behindPooler() bool { return c.DirectURL != "" }

// sessionConfig returns the configuration of a single connection outside any pool, which keeps its
// session.
func (c Config) sessionConfig() (*pgx.ConnConfig, error) {
	if c.behindPooler() {
		c.URL, c.DirectURL = c.DirectURL, ""
	}
	pc, err := c.poolConfig()
	if err != nil {
		return nil, err
	}
	return pc.ConnConfig, nil
}

// connConfig returns the configuration of a single connection outside any pool, without statement
// timeouts.
func (c Config) connConfig() (*pgx.ConnConfig, error) {
	cc, err := c.sessionConfig()
	if err != nil {
		return nil, err
	}
	cc.RuntimeParams["statement_timeout"] = "0"
	cc.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	return cc, nil
}

func (c Config) connSettings(cc *pgx.ConnConfig) {
	cc.ConnectTimeout = c.ConnectTimeout
	// Of several servers in the URL, use the one that accepts writes, and never a standby that its
	// name temporarily resolves to.
	if cc.ValidateConnect == nil {
		cc.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	params := cc.RuntimeParams
	params["timezone"] = "UTC"
	params["statement_timeout"] = c.statementTimeout()
	// A transaction left open would hold back vacuum for the whole database.
	params["idle_in_transaction_session_timeout"] = c.statementTimeout()
	if tracing.Enabled() {
		cc.Tracer = tracing.Queries()
	}
	if c.Outages != nil {
		ReportConnections(cc, c.Outages)
	}
}

// poolerSettings removes settings of a session: a pooler rejects them, and a statement prepared in
// one session does not exist in the next.
func (c Config) poolerSettings(cc *pgx.ConnConfig) {
	delete(cc.RuntimeParams, "statement_timeout")
	delete(cc.RuntimeParams, "idle_in_transaction_session_timeout")
	cc.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	cc.StatementCacheCapacity = 0
}

// statementTimeout returns the value of the setting statement_timeout. The defaults are filled in
// when the pool is created.
func (c Config) statementTimeout() string {
	return milliseconds(c.StatementTimeout)
}

func milliseconds(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }
