package standalone

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

// Verify is the command that compares the schedules of a process that serves with what
// the rules say. The copies are compared when a broker is named: the one in the process
// lets nobody in from outside.
type Verify struct {
	Command  scheduling.VerifyCommand `embed:""`
	StateDir string                   `default:".state" type:"path" help:"State folder of the process that serves."`
	Database privatepg.Config         `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
	NATS     natsconn.Config          `embed:"" prefix:"nats-" envprefix:"ROTALOOM_NATS_"`
}

// Do does what the command says.
func (v *Verify) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	url, err := privatepg.Running(ctx, v.Database, filepath.Join(v.StateDir, "postgresql"), log, "scheduling")
	if err != nil {
		return err
	}
	return v.Command.Do(ctx, pg.Config{URL: url, AllowInsecure: v.Database.AllowInsecure}, v.NATS, log, out)
}
