package pg

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed" // isolate_tenants.sql
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/outage"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
)

// Migrations is an ordered set of schema changes. A service has its own set, and includes the sets
// of packages with tables in its database. Each set counts its versions in its own table, so the
// numbers of different sets do not collide.
type Migrations struct {
	// Table is the name of the version table.
	Table string
	// FS holds files named "<version>_<topic>.sql", in its root.
	FS fs.FS
}

// migrateLockWait bounds the wait of a schema change for a table lock. It fails rather than queue
// behind a long query, because all other statements would queue behind it.
const migrateLockWait = 10 * time.Second

// Migrate brings the database to the newest version of every set, in order. Any number of processes
// may call it at once: a session lock lets one of them work, and is released if it dies.
func Migrate(ctx context.Context, cfg Config, log *slog.Logger, sets ...Migrations) error {
	if cfg.Outages == nil {
		cfg.Outages = outage.NewReporter(log)
	}
	cc, err := cfg.connConfig()
	if err != nil {
		return err
	}
	cc.RuntimeParams["lock_timeout"] = milliseconds(migrateLockWait)
	db := stdlib.OpenDB(*cc)
	defer func() { _ = db.Close() }()
	if err := await(ctx, cmp.Or(cfg.StartupWait, CommandWait), db.PingContext); err != nil {
		return fmt.Errorf("pg: connect to migrate: %w", err)
	}
	var version string
	if err := db.QueryRowContext(ctx, "SHOW server_version").Scan(&version); err != nil {
		return fmt.Errorf("pg: read the version of the server: %w", err)
	}
	if err := checkServer(version); err != nil {
		return fmt.Errorf("pg: %w", err)
	}
	for _, set := range sets {
		if err := migrateSet(ctx, db, log, set); err != nil {
			return fmt.Errorf("pg: migrate %s: %w", set.Table, err)
		}
	}
	return nil
}

func migrateSet(ctx context.Context, db *sql.DB, log *slog.Logger, set Migrations) error {
	provider, err := goose.NewProvider(goose.DialectPostgres, db, set.FS,
		goose.WithTableName(set.Table),
		goose.WithSessionLocker(migrateLock{}),
		goose.WithDisableGlobalRegistry(true),
		goose.WithSlog(slog.New(slog.DiscardHandler)),
	)
	if err != nil {
		return err
	}
	pending, err := provider.HasPending(ctx)
	if err != nil || !pending {
		return err
	}
	if err := createIsolateTenants(ctx, db); err != nil {
		return fmt.Errorf("create isolate_tenants: %w", err)
	}
	done, err := provider.Up(ctx)
	for _, m := range done {
		log.DebugContext(ctx, "migration applied", "set", set.Table, "version", m.Source.Version, "duration", m.Duration)
	}
	if len(done) > 0 {
		log.InfoContext(ctx, "schema migrated", "set", set.Table, "version", done[len(done)-1].Source.Version, "migrations", len(done))
	}
	return err
}

// isolateTenants creates the function by which migrations restrict a table to the rows of the
// session's tenant. It belongs to no set, because tests apply the sets in any combination.
//
//go:embed isolate_tenants.sql
var isolateTenants string

// IsolateTenantsSQL returns the statements that create the function isolate_tenants. They are part of
// the schema, although no set of migrations has them.
func IsolateTenantsSQL() string { return isolateTenants }

// createIsolateTenants takes the lock, because concurrent statements that replace a function fail.
func createIsolateTenants(ctx context.Context, db *sql.DB) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := (migrateLock{}).SessionLock(ctx, conn); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, isolateTenants)
	return errors.Join(err, migrateLock{}.SessionUnlock(context.WithoutCancel(ctx), conn))
}

// migrateLock makes migrators wait for each other.
type migrateLock struct{}

const lockMigrations advisory.Lock = "migrations"

// SessionLock polls for the lock. A session that waited inside the database would hold a snapshot,
// and the migrator with the lock may run CREATE INDEX CONCURRENTLY, which waits for all snapshots.
func (migrateLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	taken := backoff.Backoff{First: 20 * time.Millisecond, Max: 500 * time.Millisecond}
	for {
		got, err := lockMigrations.TrySQL(ctx, conn)
		if err != nil {
			return err
		}
		if got {
			return nil
		}
		if err := taken.Wait(ctx); err != nil {
			return fmt.Errorf("wait for another migrator: %w", err)
		}
	}
}

// SessionUnlock releases the lock.
func (migrateLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	return lockMigrations.UnlockSQL(ctx, conn)
}

// SchemaBehind is the error of CheckSchema for a database without all migrations that this program
// needs.
type SchemaBehind struct {
	Table        string
	Have, Needed int64
}

func (e *SchemaBehind) Error() string {
	return fmt.Sprintf("schema %s is at version %d, this program needs %d: run its migrations", e.Table, e.Have, e.Needed)
}

// CheckSchema returns a *SchemaBehind unless the database has at least the newest version of every
// set. It also returns an error while the server's disk is full. A newer database is fine, so
// programs of the previous release keep running, and can restart, while a new release rolls out.
func CheckSchema(ctx context.Context, db Querier, sets ...Migrations) error {
	if err := pgerr.CheckFreeSpace(time.Now()); err != nil {
		return err
	}
	for _, set := range sets {
		needed, err := newestVersion(set.FS)
		if err != nil {
			return fmt.Errorf("pg: read migrations %s: %w", set.Table, err)
		}
		var have int64
		err = db.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM "+set.Table).Scan(&have)
		if err != nil && !pgerr.IsUndefinedTable(err) {
			return fmt.Errorf("pg: read schema version: %w", err)
		}
		if have < needed {
			return &SchemaBehind{Table: set.Table, Have: have, Needed: needed}
		}
	}
	return nil
}

func newestVersion(fsys fs.FS) (int64, error) {
	names, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return 0, err
	}
	var version int64
	for _, name := range names {
		v, err := goose.NumericComponent(name)
		if err != nil {
			return 0, err
		}
		version = max(version, v)
	}
	if version == 0 {
		return 0, errors.New("there are no migrations")
	}
	return version, nil
}
