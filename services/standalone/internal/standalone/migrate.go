package standalone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
)

// Migrate is the operator command that migrates the databases of all services to the schema of this program
// while no process serves.
type Migrate struct {
	boot.Output
	StateDir string           `default:".state" type:"path" help:"State folder of the databases."`
	Database privatepg.Config `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
}

// Do migrates the databases and reports success.
func (m *Migrate) Do(ctx context.Context, log *slog.Logger, out io.Writer) (err error) {
	folder, err := state.Open(m.StateDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	databases, err := privatepg.Start(ctx, m.Database, folder.Path("postgresql"), log, inventory.Names()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, databases.Stop(context.WithoutCancel(ctx))) }()
	for _, s := range inventory.Services() {
		sets, err := s.Migrations()
		if err != nil {
			return err
		}
		if err := pg.Migrate(ctx, pg.Config{URL: databases.URL(s.Name), AllowInsecure: m.Database.AllowInsecure}, log, sets...); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return m.PrintLine(out, map[string]any{"migrated": true}, "the databases have the schema of this program")
}
