package recovery

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// adminURL returns the URL for reading a service's database without row-level security: as the superuser of the
// private server, or with the configured URL, whose role must not be subject to policies.
func (i *Installation) adminURL(ctx context.Context, service string) (string, error) {
	if len(i.Databases) > 0 {
		configured, err := i.url(ctx, service)
		return configured.Reveal(), err
	}
	if i.Database.URL == "" {
		return localpg.RunningAdminURL(filepath.Join(i.StateDir, "postgresql"), "rotaloom_"+service)
	}
	return inDatabase(i.Database.URL.Reveal(), "rotaloom_"+service)
}

// inDatabase returns the URL with another database.
func inDatabase(raw, database string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", errors.New("a database URL cannot be read")
	}
	u.Path = "/" + database
	return u.String(), nil
}

// databaseName returns the database in a URL.
func databaseName(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return "", errors.New("a database URL does not name a database")
	}
	return strings.Trim(u.Path, "/"), nil
}

// connect opens one connection, without a pool.
func (i *Installation) connect(ctx context.Context, raw string) (*pgx.Conn, error) {
	cc, err := pgx.ParseConfig(raw)
	if err != nil {
		return nil, err
	}
	if !i.Database.AllowInsecure {
		if err := pg.CheckSecure(cc); err != nil {
			return nil, err
		}
	}
	return pgx.ConnectConfig(ctx, cc)
}

// run runs a PostgreSQL program on a database. It passes the password in the environment, because all users of
// the machine can see arguments.
func (i *Installation) run(ctx context.Context, program, raw string, args ...string) error {
	path, err := localpg.Program(i.Database.BinDir, program)
	if err != nil {
		return err
	}
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("a database URL cannot be read")
	}
	command := exec.CommandContext(ctx, path)
	command.Env = os.Environ()
	if password, has := u.User.Password(); has {
		command.Env = append(command.Env, "PGPASSWORD="+password)
		u.User = url.User(u.User.Username())
	}
	command.Args = append([]string{path, "--dbname=" + u.String()}, args...)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(string(out)))
	}
	return nil
}
