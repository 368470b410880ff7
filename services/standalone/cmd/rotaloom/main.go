// Command rotaloom runs the whole product in one process: all services, the REST edge, a NATS server and a
// private PostgreSQL.
package main

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/services/standalone/internal/recovery"
	"github.com/rotaloom/rotaloom/services/standalone/internal/standalone"
)

type settings struct {
	boot.Common

	Serve       standalone.Config      `cmd:"" help:"Serve the API."`
	Migrate     standalone.Migrate     `cmd:"" help:"Migrate the databases to the schema of this program. Serve does so too."`
	Tenant      standalone.Tenants     `cmd:"" help:"Create, list, disable and enable tenants while the API is served."`
	User        standalone.Users       `cmd:"" help:"List users, unlock user names and reset passwords while the API is served."`
	Client      standalone.Clients     `cmd:"" help:"List, create and delete the OAuth clients of a tenant through the API."`
	SigningKeys standalone.SigningKeys `cmd:"" help:"Replace the keys that sign tokens while the API is served."`
	Backfill    standalone.Backfill    `cmd:"" help:"Fill the services' copies of each other's data again while the API is served."`
	Deadletter  standalone.DeadLetters `cmd:"" help:"List and retry dead-lettered events."`

	Propagation standalone.Propagations `cmd:"" help:"Follow how changes are applied to schedules, through the API, and retry failed ones."`
	Verify      standalone.Verify       `cmd:"" help:"Compare the stored schedules with the rules while the API is served. Changes nothing."`
	Backup      recovery.Backup         `cmd:"" help:"Back up the databases of all services at one point in time while the API is served."`
	Restore     recovery.Restore        `cmd:"" help:"Restore the databases from a backup, and finish a restore."`
	Doctor      standalone.Doctor       `cmd:"" help:"Check databases, broker, clocks, certificates, time zones and disk, and suggest fixes. Changes nothing."`
	Demo        standalone.Demo         `cmd:"" help:"Create a demonstration through the API: a company of two thousand employees on eleven rotations."`
	Context     standalone.Contexts     `cmd:"" help:"Manage the servers that commands call through the API."`

	Certs           standalone.Certs           `cmd:"" help:"Create certificates for a test installation of separate processes, and print the matching flags."`
	NATSPermissions standalone.NATSPermissions `cmd:"" name:"nats-permissions" help:"Print the users of a NATS server with the least privileges that each service needs."`

	boot.Commands
}

func main() {
	s := &settings{}
	boot.Main("rotaloom", "Workforce management: schedules for any number of people.", s,
		func(ctx context.Context, app *boot.App) error { return standalone.Start(ctx, s.Serve, app) })
}
