package standalone

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

// DeadLetters contains the commands for dead-lettered events. They work on the database of a serving process.
type DeadLetters struct {
	List   listDeadLetters   `cmd:"" help:"List the dead-lettered events of a service with the reasons."`
	Replay replayDeadLetters `cmd:"" help:"Retry dead-lettered events of a service while the API is served."`
}

// deadLetterScope selects a service and its database.
type deadLetterScope struct {
	Service  string           `required:"" enum:"commons,timekeeping,scheduling" help:"Service that dead-lettered the events: ${enum}."`
	StateDir string           `default:".state" type:"path" help:"State folder of the serving process."`
	Database privatepg.Config `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
}

func (l *deadLetterScope) config(ctx context.Context, log *slog.Logger) (pg.Config, error) {
	url, err := privatepg.Running(ctx, l.Database, filepath.Join(l.StateDir, "postgresql"), log, l.Service)
	if err != nil {
		return pg.Config{}, fmt.Errorf("%s: %w", l.Service, err)
	}
	return pg.Config{URL: url}, nil
}

type listDeadLetters struct {
	serve.ListDeadLetters `embed:""`
	deadLetterScope       `embed:""`
}

// Do lists the events.
func (l *listDeadLetters) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	database, err := l.config(ctx, log)
	if err != nil {
		return err
	}
	return l.DoIn(ctx, database, log, out)
}

type replayDeadLetters struct {
	serve.ReplayDeadLetters `embed:""`
	deadLetterScope         `embed:""`
}

// Do retries the events.
func (r *replayDeadLetters) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	database, err := r.config(ctx, log)
	if err != nil {
		return err
	}
	return r.DoIn(ctx, database, log, out)
}
