//go:build unix

package localpg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// EnsureDatabases creates the role that owns the databases and the missing databases. It may be
// called at every start.
func (s *Server) EnsureDatabases(ctx context.Context, names ...string) error {
	conn, err := pgx.Connect(ctx, s.AdminURL("postgres"))
	if err != nil {
		return fmt.Errorf("localpg: connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()

	err = ensure(ctx, conn, "SELECT 1 FROM pg_roles WHERE rolname = $1", Role,
		"CREATE ROLE "+Role+" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS")
	if err != nil {
		return err
	}
	for _, name := range names {
		err := ensure(ctx, conn, "SELECT 1 FROM pg_database WHERE datname = $1", name,
			"CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" OWNER "+Role)
		if err != nil {
			return err
		}
	}
	return nil
}

// ensure executes create, unless query finds a row.
func ensure(ctx context.Context, conn *pgx.Conn, query, name, create string) error {
	rows, err := conn.Query(ctx, query, name)
	if err != nil {
		return fmt.Errorf("localpg: look for %s: %w", name, err)
	}
	exists := rows.Next()
	rows.Close()
	if err := rows.Err(); err != nil || exists {
		return err
	}
	if _, err := conn.Exec(ctx, create); err != nil {
		return fmt.Errorf("localpg: create %s: %w", name, err)
	}
	return nil
}
