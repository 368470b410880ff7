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

// DeadLetters is the command over the events that consumers gave up. It works on
// the database of a process that serves.
type DeadLetters struct {
	List   listDeadLetters   `cmd:"" help:"List the events that a service gave up, and why."`
	Replay replayDeadLetters `cmd:"" help:"Have events that a service gave up handled once more, while the API is served."`
}

// deadLetterScope says whose dead letters are meant.
type deadLetterScope struct {
	Service  string           `required:"" enum:"commons,timekeeping,scheduling" help:"The service whose consumers gave them up: ${enum}."`
	StateDir string           `default:".state" type:"path" help:"State folder of the process that serves."`
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

// Do does what the command says.
func (l *listDeadLetters) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	database, err := l.config(ctx, log)
	if err != nil {
		return err
	}
	return l.In(ctx, database, log, out)
}

type replayDeadLetters struct {
	serve.ReplayDeadLetters `embed:""`
	deadLetterScope         `embed:""`
}

// Do does what the command says.
func (r *replayDeadLetters) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	database, err := r.config(ctx, log)
	if err != nil {
		return err
	}
	return r.In(ctx, database, log, out)
}
