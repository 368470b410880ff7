package standalone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

// DeadLetters contains the commands for dead-lettered events. They work on the databases of a serving process.
type DeadLetters struct {
	List   listDeadLetters   `cmd:"" help:"List the dead-lettered events with the reasons."`
	Replay replayDeadLetters `cmd:"" help:"Retry dead-lettered events while the API is served."`
}

// deadLetterScope selects services and their databases.
type deadLetterScope struct {
	Service  string           `enum:"commons,timekeeping,scheduling,all" default:"all" help:"Service that dead-lettered the events: ${enum}."`
	StateDir string           `default:".state" type:"path" help:"State folder of the serving process."`
	Database privatepg.Config `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
}

// forEach calls work with the database of each selected service, if the tenant with the id exists or the id is 0.
func (l *deadLetterScope) forEach(ctx context.Context, id int64, log *slog.Logger, work func(service string, pool *pg.Pool) error) error {
	if id != 0 {
		if err := requireTenant(ctx, l.Database, l.StateDir, id, log); err != nil {
			return err
		}
	}
	for _, service := range inventory.Services() {
		if !service.HasEvents() || l.Service != "all" && l.Service != service.Name {
			continue
		}
		if err := l.withPool(ctx, service.Name, log, work); err != nil {
			return fmt.Errorf("%s: %w", service.Name, err)
		}
	}
	return nil
}

func (l *deadLetterScope) withPool(ctx context.Context, service string, log *slog.Logger, work func(service string, pool *pg.Pool) error) error {
	url, err := privatepg.Running(ctx, l.Database, filepath.Join(l.StateDir, "postgresql"), log, service)
	if err != nil {
		return err
	}
	pool, err := pg.Open(ctx, pg.Config{URL: url, AllowInsecure: l.Database.AllowInsecure}, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	return work(service, pool)
}

type listDeadLetters struct {
	serve.ListDeadLetters `embed:""`
	deadLetterScope       `embed:""`
}

// Do lists the events.
func (l *listDeadLetters) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	all := []serve.ListedDeadLetter{}
	err := l.forEach(ctx, l.Tenant, log, func(service string, pool *pg.Pool) error {
		found, err := l.List(ctx, pool, service)
		all = append(all, found...)
		return err
	})
	if err != nil {
		return err
	}
	return l.PrintList(out, all)
}

type replayDeadLetters struct {
	serve.ReplayDeadLetters `embed:""`
	deadLetterScope         `embed:""`
}

// Do retries the events. Each service has its own numbers, so that single events need the service.
func (r *replayDeadLetters) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	if len(r.IDs) > 0 && r.Service == "all" {
		return errors.New("each service numbers its dead letters itself: name the service of these (--service)")
	}
	replayed := 0
	err := r.forEach(ctx, r.Tenant, log, func(_ string, pool *pg.Pool) error {
		n, err := r.Request(ctx, pool)
		replayed += n
		return err
	})
	if err != nil {
		return err
	}
	return r.PrintNumber(out, replayed)
}
