package standalone

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/services/standalone/internal/doctor"
	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
)

// Doctor is the command that checks the environment of the installation.
type Doctor struct {
	doctor.Command `embed:""`
}

// Do runs the checks and prints the findings.
func (d *Doctor) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	var services []doctor.Service
	for _, s := range inventory.Services() {
		sets, err := s.Migrations()
		if err != nil {
			return err
		}
		services = append(services, doctor.Service{Name: s.Name, Migrations: sets, DeadLetters: s.HasEvents(), NewestTimes: s.NewestTimes})
	}
	return d.Command.Do(ctx, services, clock.System{}, log, out)
}
