package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// URLVariable is the environment variable with a superuser's URL of a running server. Tests use its
// databases "rotaloom_…".
const URLVariable = "ROTALOOM_TEST_DATABASE_URL"

// role is the role of tests. Its password is for servers that require one.
const (
	role     = localpg.Role
	password = "rotaloom"
)

// server is the server with the databases of this process.
type server struct {
	admin *url.URL
	pool  *pgxpool.Pool
	stop  func() error
}

// shared returns the server of this process, and starts it on first use. It is a package variable,
// because starting a server for every test would take longer than the tests.
var shared = sync.OnceValues(startShared)

func startShared() (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := newServer(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.createRole(ctx); err != nil {
		return nil, fmt.Errorf("create role: %w", err)
	}
	return s, nil
}

func newServer(ctx context.Context) (*server, error) {
	if given := os.Getenv(URLVariable); given != "" {
		return connect(ctx, given, func() error { return nil })
	}
	removeStaleDirs()
	dir, err := os.MkdirTemp("", serverDirPattern)
	if err != nil {
		return nil, err
	}
	local, err := localpg.Start(ctx, localpg.Config{Dir: dir, Disposable: true})
	if err != nil {
		return nil, err
	}
	return connect(ctx, local.AdminURL("postgres"), func() error {
		if err := local.Stop(context.Background()); err != nil {
			return err
		}
		return os.RemoveAll(dir)
	})
}

func connect(ctx context.Context, raw string, stop func() error) (*server, error) {
	admin, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL", URLVariable)
	}
	pool, err := pgxpool.New(ctx, raw)
	if err != nil {
		return nil, err
	}
	return &server{admin: admin, pool: pool, stop: stop}, nil
}

// url returns the URL of a database for the services' role.
func (s *server) url(database string) obs.Secret {
	u := *s.admin
	u.Path = "/" + database
	u.User = url.UserPassword(role, password)
	query := u.Query()
	query.Del("user")
	query.Del("password")
	u.RawQuery = pg.EncodeQuery(query)
	return obs.Secret(u.String())
}

func (s *server) close() error {
	s.pool.Close()
	return s.stop()
}
