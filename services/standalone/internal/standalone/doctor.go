package standalone

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/services/standalone/internal/doctor"
)

// Doctor is the command that looks at what the installation stands on.
type Doctor struct {
	doctor.Command `embed:""`
}

// Do looks, and prints what it has found.
func (d *Doctor) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	sets, err := migrations()
	if err != nil {
		return err
	}
	var services []doctor.Service
	for _, name := range serviceNames {
		services = append(services, doctor.Service{Name: name, Migrations: sets[name], DeadLetters: name != "auth" && name != "platform"})
	}
	return d.Command.Do(ctx, services, clock.System{}, log, out)
}
