package standalone

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/commons"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

// Backfill is the command of operators that fills again what commons keeps of other
// services. It works on the database of a process that serves.
type Backfill struct {
	Command  commons.BackfillCommand `embed:""`
	StateDir string                  `default:".state" type:"path" help:"State folder of the process that serves."`
	Database privatepg.Config        `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
}

// Do does what the command says.
func (b *Backfill) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	url, err := privatepg.Running(ctx, b.Database, filepath.Join(b.StateDir, "postgresql"), log, "commons")
	if err != nil {
		return err
	}
	return b.Command.Do(ctx, pg.Config{URL: url, AllowInsecure: b.Database.AllowInsecure}, log, out)
}
