package standalone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/recovery"
)

// Verify is the command that compares the schedules of a serving process with the rules, and the services'
// copies with their owners' data. It reads all databases itself, because the broker inside the process accepts
// no outside connections.
type Verify struct {
	Command  scheduling.VerifyCommand `embed:""`
	StateDir string                   `default:".state" type:"path" help:"State folder of the serving process."`
	Database privatepg.Config         `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
}

// Do runs the comparison and lists orphans.
func (v *Verify) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	if err := requireTenant(ctx, v.Database, v.StateDir, v.Command.Tenant, log); err != nil {
		return err
	}
	database, err := v.database(ctx, log, "scheduling")
	if err != nil {
		return err
	}
	err = v.Command.Compare(ctx, database, func(ctx context.Context) ([]scheduling.CopyDifference, error) {
		return v.compareCopies(ctx, log)
	}, log, out)
	if v.Command.JSON() {
		return err // The command restore orphans prints them as JSON.
	}
	orphans := &recovery.Orphans{Installation: recovery.Installation{StateDir: v.StateDir, Database: v.Database}}
	return errors.Join(err, orphans.Do(ctx, log, out))
}

func (v *Verify) database(ctx context.Context, log *slog.Logger, service string) (pg.Config, error) {
	url, err := privatepg.Running(ctx, v.Database, filepath.Join(v.StateDir, "postgresql"), log, service)
	return pg.Config{URL: url, AllowInsecure: v.Database.AllowInsecure}, err
}

// ownedTopic is a topic with the database of its owner.
type ownedTopic struct {
	topic replica.Topic
	pool  *pg.Pool
}

// compareCopies compares the copies of all services with the data of their owners, directly between databases.
func (v *Verify) compareCopies(ctx context.Context, log *slog.Logger) ([]scheduling.CopyDifference, error) {
	var copies []*replica.Replica
	owned := map[string]ownedTopic{}
	for _, service := range inventory.Services() {
		if !service.HasEvents() {
			continue
		}
		database, err := v.database(ctx, log, service.Name)
		if err != nil {
			return nil, err
		}
		pool, err := pg.Open(ctx, database, log)
		if err != nil {
			return nil, err
		}
		defer pool.Close()
		copies = append(copies, service.Copies(pool)...)
		if service.Topics == nil {
			continue
		}
		for _, topic := range service.Topics() {
			contract, err := replica.ReadContract(topic.Event.ProtoReflect().Descriptor())
			if err != nil {
				return nil, err
			}
			owned[contract.Topic] = ownedTopic{topic, pool}
		}
	}
	var found []scheduling.CopyDifference
	for _, c := range copies {
		topic := c.Contract().Topic
		owner, known := owned[topic]
		if !known {
			return nil, fmt.Errorf("no service owns %s", topic)
		}
		keys, err := c.CountDifferencesFrom(ctx, owner.topic, owner.pool, scheduling.Settle)
		if err != nil {
			return nil, err
		}
		found = append(found, scheduling.CopyDifference{Service: c.Service(), Topic: topic, Keys: keys})
	}
	leave, err := v.compareLeave(ctx, log)
	return append(found, leave), err
}
