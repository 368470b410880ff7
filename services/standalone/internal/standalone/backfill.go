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
	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

// Backfill is the operator command that fills the services' copies of each other's data again. It works on the
// databases of a serving process.
type Backfill struct {
	Command  replica.BackfillCommand `embed:""`
	Service  string                  `enum:"commons,timekeeping,scheduling,all" default:"all" help:"Service whose copies to fill: ${enum}."`
	StateDir string                  `default:".state" type:"path" help:"State folder of the serving process."`
	Database privatepg.Config        `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
}

// Do runs the command for one service after the other.
func (b *Backfill) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	consumers := slices.DeleteFunc(inventory.Services(), func(s inventory.Service) bool {
		return !s.HasEvents() || b.Service != "all" && s.Name != b.Service
	})
	if err := b.check(consumers); err != nil {
		return err
	}
	if err := requireTenant(ctx, b.Database, b.StateDir, b.Command.Tenant, log); err != nil {
		return err
	}
	for _, s := range consumers {
		command := b.Command
		if len(b.Command.Topics) > 0 {
			topics := replica.Topics(s.Copies(nil))
			command.Topics = slices.DeleteFunc(slices.Clone(b.Command.Topics), func(topic string) bool { return !slices.Contains(topics, topic) })
			if len(command.Topics) == 0 {
				continue
			}
		}
		url, err := privatepg.Running(ctx, b.Database, filepath.Join(b.StateDir, "postgresql"), log, s.Name)
		if err != nil {
			return err
		}
		if !command.JSON() {
			if _, err := fmt.Fprintf(out, "%s:\n", s.Name); err != nil {
				return err
			}
		}
		if err := command.Do(ctx, pg.Config{URL: url, AllowInsecure: b.Database.AllowInsecure}, s.Copies(nil), log, out); err != nil {
			return err
		}
	}
	return nil
}

// check refuses unknown topics before the first request.
func (b *Backfill) check(consumers []inventory.Service) error {
	var known []string
	for _, s := range consumers {
		known = append(known, replica.Topics(s.Copies(nil))...)
	}
	slices.Sort(known)
	for _, topic := range b.Command.Topics {
		if !slices.Contains(known, topic) {
			return fmt.Errorf("there is no topic %q; the topics are %s", topic, strings.Join(slices.Compact(known), ", "))
		}
	}
	return nil
}
