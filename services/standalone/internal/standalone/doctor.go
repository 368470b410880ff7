package standalone

import (
	"context"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/standalone/internal/doctor"
)

// Queries for the newest times of audit rows and of events.
const (
	newestAudited = `SELECT max(occurred_at) FROM audit_event WHERE occurred_at > $1`
	newestEvent   = `SELECT max(created_at) FROM outbox WHERE created_at > $1`
)

// Doctor is the command that checks the environment of the installation.
type Doctor struct {
	doctor.Command `embed:""`
}

// Do runs the checks and prints the findings.
func (d *Doctor) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	sets, err := migrations()
	if err != nil {
		return err
	}
	var services []doctor.Service
	for _, name := range serviceNames {
		hasEvents := name != "auth" && name != "platform"
		times := []string{newestAudited}
		if hasEvents {
			times = append(times, newestEvent)
		}
		if name == "scheduling" {
			times = append(times, scheduling.NewestChange)
		}
		services = append(services, doctor.Service{Name: name, Migrations: sets[name], DeadLetters: hasEvents, NewestTimes: times})
	}
	return d.Command.Do(ctx, services, clock.System{}, log, out)
}
