package privatepg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
)

const (
	// startupWait is how long a server that is still starting is waited for.
	startupWait = 30 * time.Second
	retryAfter  = 250 * time.Millisecond
	// afterwards bounds the closing of the connection.
	afterwards = 2 * time.Second
	// lookTimeout bounds looking at a server that is not prepared.
	lookTimeout = 5 * time.Second
)

// given prepares a server that is not ours: it makes the databases that are
// missing, and returns how the services connect.
//
// Row-level security keeps tenants apart, and it does not hold for superusers.
// With the URL of one, the services work as a role without privileges, which is
// made for them and owns the databases.
func given(ctx context.Context, cfg Config, log *slog.Logger, services []string) (*Databases, error) {
	u, err := parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, u, cfg.AllowInsecure, log)
	if err != nil {
		return nil, fmt.Errorf("connect to the database server: %w", err)
	}
	defer closeConn(ctx, conn)
	as, err := workingRole(ctx, conn)
	if err != nil {
		return nil, err
	}
	if as.assumed {
		if err := ensureRole(ctx, conn); err != nil {
			return nil, err
		}
	}
	if err := as.into(u); err != nil {
		return nil, err
	}
	if err := ensureDatabases(ctx, conn, as, services); err != nil {
		return nil, err
	}
	d := &Databases{names: map[string]obs.Secret{}}
	for _, service := range services {
		u.Path = "/" + name(service)
		d.names[service] = obs.Secret(u.String())
	}
	return d, nil
}

// existing returns how a service connects, and prepares nothing.
func existing(ctx context.Context, cfg Config, service string) (obs.Secret, error) {
	u, err := parse(cfg.URL)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	conn, err := connect(ctx, u, cfg.AllowInsecure, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", fmt.Errorf("connect to the database server: %w", err)
	}
	defer closeConn(ctx, conn)
	as, err := workingRole(ctx, conn)
	if err == nil {
		err = as.into(u)
	}
	u.Path = "/" + name(service)
	return obs.Secret(u.String()), err
}

func parse(from obs.Secret) (*url.URL, error) {
	u, err := url.Parse(from.Reveal())
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("the database URL is not of the form postgres://user@host")
	}
	return u, nil
}

func closeConn(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	_ = conn.Close(ctx)
}

// connect connects to the database that the URL names, or to postgres.
func connect(ctx context.Context, u *url.URL, allowInsecure bool, log *slog.Logger) (*pgx.Conn, error) {
	maintenance := *u
	if strings.Trim(u.Path, "/") == "" {
		maintenance.Path = "/postgres"
	}
	parsed, err := pgx.ParseConfig(maintenance.String())
	if err != nil {
		return nil, err
	}
	if !allowInsecure {
		if err := pg.CheckSecure(parsed); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startupWait)
	defer cancel()
	for {
		conn, err := pgx.ConnectConfig(ctx, parsed)
		if err == nil || !pgerr.Unavailable(err) {
			return conn, err
		}
		log.Warn("database server is away, trying again", "error", err)
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(retryAfter):
		}
	}
}

// working is the role as which the services work.
type working struct {
	role string
	// assumed says that it is ours, in place of a superuser's.
	assumed bool
}

// workingRole returns the role of the connection, or ours in place of a
// superuser's.
func workingRole(ctx context.Context, conn *pgx.Conn) (working, error) {
	var role string
	var super, bypasses bool
	err := conn.QueryRow(ctx, `SELECT rolname::text, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user`).
		Scan(&role, &super, &bypasses)
	switch {
	case err != nil:
		return working{}, fmt.Errorf("read the role of the database URL: %w", err)
	case super:
		return working{localpg.Role, true}, nil
	case bypasses:
		return working{}, fmt.Errorf("the role %s of the database URL bypasses row-level security, which keeps tenants apart: "+
			"take BYPASSRLS from it, or name another role", role)
	}
	return working{role: role}, nil
}

// into has the connections of a URL work as the role.
func (w working) into(u *url.URL) error {
	if !w.assumed {
		return nil
	}
	settings, err := pg.Query(u)
	if err != nil {
		return errors.New("the settings of the database URL cannot be read: write a percent sign as %25")
	}
	settings.Set("role", w.role)
	u.RawQuery = pg.EncodeQuery(settings)
	return nil
}

// ensureRole makes our role. One that is there already must be as weak as ours.
func ensureRole(ctx context.Context, conn *pgx.Conn) error {
	var strong bool
	err := conn.QueryRow(ctx, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = $1", localpg.Role).Scan(&strong)
	if errors.Is(err, pgx.ErrNoRows) {
		_, err = conn.Exec(ctx, "CREATE ROLE "+localpg.Role+" NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS")
	}
	if err != nil {
		return fmt.Errorf("make the role %s: %w", localpg.Role, err)
	}
	if strong {
		return fmt.Errorf("the role %s of the database server bypasses row-level security, which keeps tenants apart", localpg.Role)
	}
	return nil
}

// ensureDatabases makes the databases that are missing, if the connection may.
func ensureDatabases(ctx context.Context, conn *pgx.Conn, as working, services []string) error {
	owners, err := owners(ctx, conn, services)
	if err != nil {
		return err
	}
	for _, service := range services {
		database := name(service)
		owner, exists := owners[database]
		switch {
		case exists && as.assumed && owner != as.role:
			return fmt.Errorf("the database %s belongs to %s, but in place of a superuser the services work as %s: "+
				"give it and its tables to that role, or let the database URL name %s", database, owner, as.role, owner)
		case exists:
			continue
		}
		_, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{database}.Sanitize()+" OWNER "+pgx.Identifier{as.role}.Sanitize())
		if err != nil {
			return fmt.Errorf("make the missing database %s, which needs a role with CREATEDB: %w", database, err)
		}
	}
	return nil
}

// owners returns who owns the databases that exist.
func owners(ctx context.Context, conn *pgx.Conn, services []string) (map[string]string, error) {
	var databases []string
	for _, service := range services {
		databases = append(databases, name(service))
	}
	rows, err := conn.Query(ctx, "SELECT datname::text, pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = ANY($1)", databases)
	if err != nil {
		return nil, fmt.Errorf("look for the databases: %w", err)
	}
	found := map[string]string{}
	var database, owner string
	_, err = pgx.ForEachRow(rows, []any{&database, &owner}, func() error {
		found[database] = owner
		return nil
	})
	return found, err
}
