// Package pg is how services reach PostgreSQL: one place that builds every
// connection, transactions that are retried when the database asks for it, reads
// of one moment, and migrations. Errors are in pgerr, advisory locks in advisory.
package pg

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/tracing"
)

// Config says which database a service uses and how hard it may lean on it.
// Every field but the URL works at its zero value.
//
// The tenant of a connection is a setting of its session, so without DirectURL a proxy
// between the service and PostgreSQL must keep sessions whole. With DirectURL, URL leads
// to a pooler that gives each transaction any session, as PgBouncer in transaction mode
// does; what needs a session for longer goes past it.
type Config struct {
	URL              obs.Secret    `name:"url" env:"URL" help:"PostgreSQL URL of the service's own database, postgres://user@host/name."`
	DirectURL        obs.Secret    `name:"direct-url" env:"DIRECT_URL" help:"URL of the same database past a pooler. Says that the other URL leads to a pooler in transaction mode, such as PgBouncer; migrations and long locks go past it."`
	MaxConns         int32         `name:"max-conns" env:"MAX_CONNS" default:"16" help:"Most connections of one process."`
	MinConns         int32         `name:"min-conns" env:"MIN_CONNS" default:"0" help:"Connections kept open when idle."`
	ConnLifetime     time.Duration `name:"conn-lifetime" env:"CONN_LIFETIME" default:"1h" help:"Age at which a connection is replaced."`
	ConnectTimeout   time.Duration `name:"connect-timeout" env:"CONNECT_TIMEOUT" default:"5s" help:"Time that one attempt to connect may take."`
	StartupWait      time.Duration `name:"startup-wait" env:"STARTUP_WAIT" default:"30s" help:"How long a starting service waits for the database."`
	AllowInsecure    bool          `name:"allow-insecure" env:"ALLOW_INSECURE" help:"Connect to a database on another machine without verifying who it is."`
	StatementTimeout time.Duration `name:"statement-timeout" env:"STATEMENT_TIMEOUT" default:"30s" help:"Time after which the database gives up a statement."`
}

// poolConfig is the one place where a pool's configuration is built.
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
	// Without jitter, connections opened together are replaced together.
	pc.MaxConnLifetimeJitter = pc.MaxConnLifetime / 10
	pc.PingTimeout = c.ConnectTimeout
	pc.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		civil.Register(conn.TypeMap())
		return nil
	}
	c.connSettings(pc.ConnConfig)
	if c.pooled() {
		c.poolerSettings(pc.ConnConfig)
	} else {
		pc.PrepareConn = setTenant
	}
	return pc, nil
}

// pooled reports whether each transaction may get another session.
func (c Config) pooled() bool { return c.DirectURL != "" }

// sessionConfig is the configuration of a single connection outside any pool, which is
// a session.
func (c Config) sessionConfig() (*pgx.ConnConfig, error) {
	if c.pooled() {
		c.URL, c.DirectURL = c.DirectURL, ""
	}
	pc, err := c.poolConfig()
	if err != nil {
		return nil, err
	}
	return pc.ConnConfig, nil
}

// connConfig is the configuration of a single connection outside any pool,
// whose statements may take as long as they need.
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
	// Of several servers in the URL it is the one that takes writes, and never a standby
	// that a name leads to while the other one is away.
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
}

// poolerSettings leaves out what belongs to a session: a pooler refuses to set it, and
// a statement that was prepared in one session is not known to the next.
func (c Config) poolerSettings(cc *pgx.ConnConfig) {
	delete(cc.RuntimeParams, "statement_timeout")
	delete(cc.RuntimeParams, "idle_in_transaction_session_timeout")
	cc.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	cc.StatementCacheCapacity = 0
}

// statementTimeout is what the setting of that name is set to. The defaults are filled in
// when the pool is made.
func (c Config) statementTimeout() string {
	return milliseconds(c.StatementTimeout)
}

func milliseconds(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }
