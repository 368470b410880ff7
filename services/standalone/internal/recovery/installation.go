// Package recovery contains the operator commands that back up the databases of an installation, restore them,
// and finish a restore.
package recovery

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

// services are the services with a database, sorted by name.
var services = slices.Sorted(slices.Values(inventory.Names()))

// Installation locates the databases.
type Installation struct {
	StateDir  string            `default:".state" type:"path" help:"State folder of the serving process."`
	Database  privatepg.Config  `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
	Databases map[string]string `env:"ROTALOOM_DATABASES" help:"Databases of separate processes, one for each service: auth=URL;commons=URL and so on."`
}

// url returns the URL of a service's database.
func (i *Installation) url(ctx context.Context, service string) (obs.Secret, error) {
	if len(i.Databases) == 0 {
		return privatepg.Existing(ctx, i.Database, filepath.Join(i.StateDir, "postgresql"), service)
	}
	for name := range i.Databases {
		if !slices.Contains(services, name) {
			return "", fmt.Errorf("there is no service %q with a database; the services are %s", name, strings.Join(services, ", "))
		}
	}
	url, named := i.Databases[service]
	if !named {
		return "", fmt.Errorf("--databases lacks the database of %s; it contains %s", service, strings.Join(slices.Sorted(maps.Keys(i.Databases)), ", "))
	}
	return obs.Secret(url), nil
}

// openPools opens the databases of all services. The caller must call end.
func (i *Installation) openPools(ctx context.Context, log *slog.Logger) (pools map[string]*pg.Pool, end func(), err error) {
	pools = map[string]*pg.Pool{}
	end = func() {
		for _, pool := range pools {
			pool.Close()
		}
	}
	for _, service := range services {
		url, err := i.url(ctx, service)
		if err == nil {
			pools[service], err = pg.Open(ctx, pg.Config{URL: url, AllowInsecure: i.Database.AllowInsecure, MaxConns: 2}, log)
		}
		if err != nil {
			delete(pools, service)
			end()
			return nil, nil, fmt.Errorf("database of %s: %w", service, err)
		}
	}
	return pools, end, nil
}
