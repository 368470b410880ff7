package standalone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/commons"
	"github.com/rotaloom/rotaloom/services/platform"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

// Migrate is the operator command that migrates the databases of all services to the schema of this program
// while no process serves.
type Migrate struct {
	StateDir string           `default:".state" type:"path" help:"State folder of the databases."`
	Database privatepg.Config `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
}

// migrations returns the migrations of the services.
func migrations() (map[string][]pg.Migrations, error) {
	sets := map[string][]pg.Migrations{}
	for name, load := range map[string]func() ([]pg.Migrations, error){
		"auth": auth.Migrations, "commons": commons.Migrations, "timekeeping": timekeeping.Migrations, "scheduling": scheduling.Migrations,
		"platform": platform.Migrations,
	} {
		var err error
		if sets[name], err = load(); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// Do migrates the databases and reports success.
func (m *Migrate) Do(ctx context.Context, log *slog.Logger, out io.Writer) (err error) {
	sets, err := migrations()
	if err != nil {
		return err
	}
	folder, err := state.Open(m.StateDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	databases, err := privatepg.Start(ctx, m.Database, folder.Path("postgresql"), log, serviceNames...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, databases.Stop(context.WithoutCancel(ctx))) }()
	for _, name := range serviceNames {
		if err := pg.Migrate(ctx, pg.Config{URL: databases.URL(name), AllowInsecure: m.Database.AllowInsecure}, log, sets[name]...); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err = fmt.Fprintln(out, "the databases have the schema of this program")
	return err
}
