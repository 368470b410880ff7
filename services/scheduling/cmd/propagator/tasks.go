package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/scheduling"
)

// verify is the command of that name.
type verify struct {
	scheduling.VerifyCommand `embed:""`

	database *pg.Config       `kong:"-"`
	broker   *natsconn.Config `kong:"-"`
}

// Do does what the command says.
func (v *verify) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	return v.VerifyCommand.Do(ctx, *v.database, *v.broker, log, out)
}

// replay is the command of that name.
type replay struct {
	scheduling.ReplayCommand `embed:""`

	database *pg.Config `kong:"-"`
}

// Do does what the command says.
func (r *replay) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	return r.ReplayCommand.Do(ctx, *r.database, log, out)
}
