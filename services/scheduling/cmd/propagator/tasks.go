package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/scheduling"
)

// verify is the command "verify".
type verify struct {
	scheduling.VerifyCommand `embed:""`

	database *pg.Config       `kong:"-"`
	broker   *natsconn.Config `kong:"-"`
}

// Do runs the command.
func (v *verify) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	if err := serve.RequireTenantData(ctx, *v.database, v.Tenant, log); err != nil {
		return err
	}
	return v.VerifyCommand.Do(ctx, *v.database, *v.broker, log, out)
}

// replay is the command "replay".
type replay struct {
	scheduling.ReplayCommand `embed:""`

	database *pg.Config `kong:"-"`
}

// Do runs the command.
func (r *replay) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	if err := serve.RequireTenantData(ctx, *r.database, r.Tenant, log); err != nil {
		return err
	}
	return r.ReplayCommand.Do(ctx, *r.database, log, out)
}
