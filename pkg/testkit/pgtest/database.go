package pgtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// create creates a database for one test and returns its name.
func (s *server) create(ctx context.Context, sets []pg.Migrations) (string, error) {
	template := "template1"
	if len(sets) > 0 {
		var err error
		if template, err = s.template(ctx, sets); err != nil {
			return "", err
		}
	}
	name := "rotaloom_test_" + strings.ToLower(rand.Text()[:12])
	// The default strategy also writes each page to the WAL, which takes three times as long. The
	// checkpoints of file_copy cost little in a server that does not sync.
	_, err := s.pool.Exec(ctx, fmt.Sprintf("CREATE DATABASE %s OWNER %s TEMPLATE %s STRATEGY file_copy", name, role, template))
	return name, err
}

func (s *server) drop(ctx context.Context, name string) error {
	_, err := s.pool.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	return err
}

// template returns the database with these migrations, and creates it if it is missing.
func (s *server) template(ctx context.Context, sets []pg.Migrations) (string, error) {
	sum, err := fingerprint(pg.IsolateTenantsSQL(), sets)
	if err != nil {
		return "", err
	}
	name := "rotaloom_template_" + sum
	return name, s.withLock(ctx, name, func(conn *pgxpool.Conn) error {
		var finished bool
		err := conn.QueryRow(ctx, "SELECT datistemplate FROM pg_database WHERE datname = $1", name).Scan(&finished)
		if finished || err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return s.makeTemplate(ctx, conn, name, sets)
	})
}

func (s *server) makeTemplate(ctx context.Context, conn *pgxpool.Conn, name string, sets []pg.Migrations) error {
	for _, sql := range []string{
		"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)",
		"CREATE DATABASE " + name + " OWNER " + role,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	if err := pg.Migrate(ctx, pg.Config{URL: s.url(name)}, slog.New(slog.DiscardHandler), sets...); err != nil {
		return err
	}
	// A connection to a template would prevent copies of it.
	_, err := conn.Exec(ctx, "ALTER DATABASE "+name+" WITH IS_TEMPLATE true ALLOW_CONNECTIONS false")
	return err
}

func (s *server) createRole(ctx context.Context) error {
	return s.withLock(ctx, "role", func(conn *pgxpool.Conn) error {
		var exists bool
		err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role).Scan(&exists)
		if err != nil || exists {
			return err
		}
		_, err = conn.Exec(ctx, fmt.Sprintf(
			"CREATE ROLE %s LOGIN PASSWORD '%s' NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS", role, password))
		return err
	})
}

// withLock runs fn while no other test process runs one under the same name.
func (s *server) withLock(ctx context.Context, name string, fn func(*pgxpool.Conn) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", "pgtest "+name); err != nil {
		return err
	}
	err = fn(conn)
	_, unlockErr := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock_all()")
	return errors.Join(err, unlockErr)
}

// fingerprint identifies sets of migrations by their content and by the statements before them.
func fingerprint(before string, sets []pg.Migrations) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", before)
	for _, set := range sets {
		fmt.Fprintf(hash, "%q\n", set.Table)
		names, err := fs.Glob(set.FS, "*.sql")
		if err != nil {
			return "", err
		}
		for _, name := range names {
			text, err := fs.ReadFile(set.FS, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(hash, "%q %q\n", name, text)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]), nil
}
