// Package privatepg gives every service of the standalone program its database:
// on a private PostgreSQL server in the state folder, or on one that is named.
package privatepg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/obs"
)

// Config says which server is used. At its zero value that is a private one,
// with the programs found on the machine.
type Config struct {
	URL           obs.Secret `name:"url" env:"URL" help:"URL of a PostgreSQL server to use instead of a private one. The databases rotaloom_<service> are made when they are missing and the role may create them."`
	AllowInsecure bool       `name:"allow-insecure" env:"ALLOW_INSECURE" help:"Use a server on another machine without verifying who it is."`
	BinDir        string     `name:"bin-dir" env:"BIN_DIR" type:"path" help:"Folder of initdb and postgres, when they are not found by themselves."`
}

// Databases are the databases of the services.
type Databases struct {
	names map[string]obs.Secret
	cfg   localpg.Config

	mu sync.Mutex
	// local is nil when the server is not ours.
	local   *localpg.Server
	stopped bool

	// down says that the private server has ended and is not back, and full that it waits for
	// room on its disk.
	down, full atomic.Bool
}

// Start starts the private server in dir, unless one is named, and sees to a
// database for each service. Stop ends it; so does the end of this process.
func Start(ctx context.Context, cfg Config, dir string, log *slog.Logger, services ...string) (*Databases, error) {
	if cfg.URL != "" {
		return given(ctx, cfg, log, services)
	}
	local := localpg.Config{Dir: dir, BinDir: cfg.BinDir, Log: log}
	server, err := localpg.Start(ctx, local)
	if err != nil {
		return nil, fmt.Errorf("start the private PostgreSQL: %w", err)
	}
	d := &Databases{local: server, cfg: local, names: map[string]obs.Secret{}}
	var databases []string
	for _, service := range services {
		databases = append(databases, name(service))
		d.names[service] = obs.Secret(server.URL(name(service)))
	}
	if err := server.EnsureDatabases(ctx, databases...); err != nil {
		return nil, errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
	}
	return d, nil
}

// Running returns how to connect to the database of a service that another process
// works with, which runs the private server in dir unless one is named.
func Running(ctx context.Context, cfg Config, dir string, log *slog.Logger, service string) (obs.Secret, error) {
	if cfg.URL != "" {
		d, err := given(ctx, cfg, log, []string{service})
		if err != nil {
			return "", err
		}
		return d.URL(service), nil
	}
	url, err := localpg.RunningURL(dir, name(service))
	return obs.Secret(url), err
}

// Existing is Running, but that it makes neither a database nor a role.
func Existing(ctx context.Context, cfg Config, dir, service string) (obs.Secret, error) {
	if cfg.URL != "" {
		return existing(ctx, cfg, service)
	}
	url, err := localpg.RunningURL(dir, name(service))
	return obs.Secret(url), err
}

func name(service string) string { return "rotaloom_" + service }

// URL is how a service connects to its database.
func (d *Databases) URL(service string) obs.Secret { return d.names[service] }

// Stop ends the private server, orderly unless the context ends first.
func (d *Databases) Stop(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if d.local == nil {
		return nil
	}
	return d.local.Stop(ctx)
}
