package privatepg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/outage"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
)

const (
	firstRetry = 250 * time.Millisecond
	maxRetry   = 2 * time.Second
	// afterwards bounds closing the connection.
	afterwards = 2 * time.Second
	// lookTimeout bounds reading from a server without preparing it.
	lookTimeout = 5 * time.Second
)

// prepareConfigured prepares a configured server: it creates the missing databases, and returns the URLs for
// the services.
//
// Row-level security separates tenants, and it does not apply to superusers. If the URL is a superuser's, the
// services use a role without privileges, which prepareConfigured creates for them and which owns the
// databases.
func prepareConfigured(ctx context.Context, cfg Config, log *slog.Logger, services []string) (*Databases, error) {
	u, err := parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, u, cfg, log)
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
	if err := as.apply(u); err != nil {
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

// configuredURL returns the URL of a service's database, without preparing anything.
func configuredURL(ctx context.Context, cfg Config, service string) (obs.Secret, error) {
	u, err := parse(cfg.URL)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	conn, err := connect(ctx, u, cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", fmt.Errorf("connect to the database server: %w", err)
	}
	defer closeConn(ctx, conn)
	as, err := workingRole(ctx, conn)
	if err == nil {
		err = as.apply(u)
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

// connect connects to the database in the URL, or to postgres. It waits for a server that is starting.
func connect(ctx context.Context, u *url.URL, cfg Config, log *slog.Logger) (*pgx.Conn, error) {
	maintenance := *u
	if strings.Trim(u.Path, "/") == "" {
		maintenance.Path = "/postgres"
	}
	parsed, err := pgx.ParseConfig(maintenance.String())
	if err != nil {
		return nil, err
	}
	if !cfg.AllowInsecure {
		if err := pg.CheckSecure(parsed); err != nil {
			return nil, err
		}
	}
	pg.ReportConnections(parsed, outage.NewReporter(log))
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(cfg.StartupWait, pg.CommandWait))
	defer cancel()
	retry := backoff.Backoff{First: firstRetry, Max: maxRetry}
	for {
		conn, err := pgx.ConnectConfig(ctx, parsed)
		if err == nil || !pgerr.Unavailable(err) {
			return conn, err
		}
		if retry.Wait(ctx) != nil {
			return nil, err
		}
	}
}

// workRole is the role that the services use.
type workRole struct {
	role string
	// assumed means that it is our own role, which replaces a superuser's.
	assumed bool
}

// workingRole returns the role of the connection, or our own role if that one is a superuser.
func workingRole(ctx context.Context, conn *pgx.Conn) (workRole, error) {
	var role string
	var super, bypasses bool
	err := conn.QueryRow(ctx, `SELECT rolname::text, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user`).
		Scan(&role, &super, &bypasses)
	switch {
	case err != nil:
		return workRole{}, fmt.Errorf("read the role of the database URL: %w", err)
	case super:
		return workRole{localpg.Role, true}, nil
	case bypasses:
		return workRole{}, fmt.Errorf("the role %s of the database URL bypasses row-level security, which keeps tenants apart: "+
			"remove BYPASSRLS from it, or use another role", role)
	}
	return workRole{role: role}, nil
}

// apply makes the connections of a URL use the role.
func (w workRole) apply(u *url.URL) error {
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

// ensureRole creates our role. An existing one must not be more powerful.
func ensureRole(ctx context.Context, conn *pgx.Conn) error {
	var strong bool
	err := conn.QueryRow(ctx, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = $1", localpg.Role).Scan(&strong)
	if errors.Is(err, pgx.ErrNoRows) {
		_, err = conn.Exec(ctx, "CREATE ROLE "+localpg.Role+" NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS")
	}
	if err != nil {
		return fmt.Errorf("create the role %s: %w", localpg.Role, err)
	}
	if strong {
		return fmt.Errorf("the role %s of the database server bypasses row-level security, which keeps tenants apart", localpg.Role)
	}
	return nil
}

// ensureDatabases creates the missing databases, if the connection has the permission.
func ensureDatabases(ctx context.Context, conn *pgx.Conn, as workRole, services []string) error {
	owners, err := owners(ctx, conn, services)
	if err != nil {
		return err
	}
	for _, service := range services {
		database := name(service)
		owner, exists := owners[database]
		switch {
		case exists && as.assumed && owner != as.role:
			return fmt.Errorf("the database %s belongs to %s, but instead of a superuser the services use %s:  "+
				"change the owner of it and its tables to that role, or use %s in the database URL", database, owner, as.role, owner)
		case exists:
			continue
		}
		_, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{database}.Sanitize()+" OWNER "+pgx.Identifier{as.role}.Sanitize())
		if err != nil {
			return fmt.Errorf("create the missing database %s, which needs a role with CREATEDB: %w", database, err)
		}
	}
	return nil
}

// owners returns the owners of the existing databases.
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
