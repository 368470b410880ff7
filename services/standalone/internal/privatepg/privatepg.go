// Package privatepg provides a database for each service of the standalone program: on a private PostgreSQL
// server in the state folder, or on a configured server.
package privatepg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/pkg/obs"
)

// Config selects the server. The zero value selects a private one, with the programs installed on the machine.
type Config struct {
	URL           obs.Secret `name:"url" env:"URL" help:"URL of a PostgreSQL server to use instead of a private one. Missing databases rotaloom_<service> are created if the role has the permission."`
	AllowInsecure bool       `name:"allow-insecure" env:"ALLOW_INSECURE" help:"Use a server on another machine without verifying its identity."`
	BinDir        string     `name:"bin-dir" env:"BIN_DIR" type:"path" help:"Folder of initdb and postgres, if they are not found automatically."`

	// StartupWait is how long Start waits for the server of URL; 0 means pg.CommandWait.
	StartupWait time.Duration `kong:"-"`
}

// Databases are the databases of the services.
type Databases struct {
	names map[string]obs.Secret
	cfg   localpg.Config

	mu sync.Mutex
	// local is nil for a configured server.
	local   *localpg.Server
	stopped bool

	// down means that the private server has stopped and is not back yet, and full that it waits for disk
	// space.
	down, full atomic.Bool
}

// Start starts the private server in dir, unless a server is configured, and ensures a database for each
// service. Stop stops the private server; so does the end of this process.
func Start(ctx context.Context, cfg Config, dir string, log *slog.Logger, services ...string) (*Databases, error) {
	if cfg.URL != "" {
		return prepareConfigured(ctx, cfg, log, services)
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

// Running returns the URL of a service's database while another process serves. That process runs the private
// server in dir, unless a server is configured.
func Running(ctx context.Context, cfg Config, dir string, log *slog.Logger, service string) (obs.Secret, error) {
	if cfg.URL != "" {
		d, err := prepareConfigured(ctx, cfg, log, []string{service})
		if err != nil {
			return "", err
		}
		return d.URL(service), nil
	}
	url, err := localpg.RunningURL(dir, name(service))
	return obs.Secret(url), err
}

// Existing is like Running, but creates neither a database nor a role.
func Existing(ctx context.Context, cfg Config, dir, service string) (obs.Secret, error) {
	if cfg.URL != "" {
		return configuredURL(ctx, cfg, service)
	}
	url, err := localpg.RunningURL(dir, name(service))
	return obs.Secret(url), err
}

func name(service string) string { return "rotaloom_" + service }

// URL returns the URL of a service's database.
func (d *Databases) URL(service string) obs.Secret { return d.names[service] }

// Stop stops the private server, cleanly unless the context ends first.
func (d *Databases) Stop(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if d.local == nil {
		return nil
	}
	return d.local.Stop(ctx)
}
