package standalone

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/services/commons"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

// Backfill is the operator command that fills the services' copies of each other's data again. It works on the
// databases of a serving process.
type Backfill struct {
	Command  replica.BackfillCommand `embed:""`
	Service  string                  `enum:"commons,timekeeping,scheduling,all" default:"all" help:"Service whose copies to fill: ${enum}."`
	StateDir string                  `default:".state" type:"path" help:"State folder of the serving process."`
	Database privatepg.Config        `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
}

// replicatingService is a service with copies of other services' data.
type replicatingService struct {
	service string
	copies  []*replica.Replica
}

// Do runs the command for one service after the other.
func (b *Backfill) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	consumers := []replicatingService{{"commons", commons.Copies(nil)}, {"timekeeping", timekeeping.Copies(nil)}, {"scheduling", scheduling.Copies(nil)}}
	if b.Service != "all" {
		consumers = slices.DeleteFunc(consumers, func(k replicatingService) bool { return k.service != b.Service })
	}
	if err := b.check(consumers); err != nil {
		return err
	}
	for _, k := range consumers {
		command := b.Command
		if len(b.Command.Topics) > 0 {
			topics := replica.Topics(k.copies)
			command.Topics = slices.DeleteFunc(slices.Clone(b.Command.Topics), func(topic string) bool { return !slices.Contains(topics, topic) })
			if len(command.Topics) == 0 {
				continue
			}
		}
		url, err := privatepg.Running(ctx, b.Database, filepath.Join(b.StateDir, "postgresql"), log, k.service)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s:\n", k.service); err != nil {
			return err
		}
		if err := command.Do(ctx, pg.Config{URL: url, AllowInsecure: b.Database.AllowInsecure}, k.copies, log, out); err != nil {
			return err
		}
	}
	return nil
}

// check refuses unknown topics before the first request.
func (b *Backfill) check(consumers []replicatingService) error {
	var known []string
	for _, k := range consumers {
		known = append(known, replica.Topics(k.copies)...)
	}
	slices.Sort(known)
	for _, topic := range b.Command.Topics {
		if !slices.Contains(known, topic) {
			return fmt.Errorf("there is no topic %q; the topics are %s", topic, strings.Join(slices.Compact(known), ", "))
		}
	}
	return nil
}
