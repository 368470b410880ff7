// Command rotaloom runs the whole product in one process: every service, the
// REST edge, a NATS server and a private PostgreSQL.
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
	Migrate     standalone.Migrate     `cmd:"" help:"Bring the databases to the schema of this program, and end. Serve does so too."`
	Tenant      standalone.Tenants     `cmd:"" help:"Make, list and switch tenants, while the API is served."`
	User        standalone.Users       `cmd:"" help:"List users, unlock their names and give them new passwords, while the API is served."`
	Client      standalone.Clients     `cmd:"" help:"List, make and delete the OAuth clients of a tenant, by the API."`
	SigningKeys standalone.SigningKeys `cmd:"" help:"Replace the keys that sign tokens, while the API is served."`
	Backfill    standalone.Backfill    `cmd:"" help:"Fill what queries over persons know of other parts again, while the API is served."`
	Deadletter  standalone.DeadLetters `cmd:"" help:"List and replay the events that consumers gave up."`

	Propagation standalone.Propagations `cmd:"" help:"Watch how changes are applied to schedules, by the API, and set failed ones going again."`
	Verify      standalone.Verify       `cmd:"" help:"Compare the stored schedules with what the rules say, while the API is served. Changes nothing."`
	Backup      recovery.Backup         `cmd:"" help:"Back up the databases of all services, as of one moment, while the API is served."`
	Restore     recovery.Restore        `cmd:"" help:"Restore the databases from a backup, and finish a restore."`
	Doctor      standalone.Doctor       `cmd:"" help:"Look at databases, broker, clocks, certificates, time zones and disk, and say what to do. Changes nothing."`
	Demo        standalone.Demo         `cmd:"" help:"Fill a server with a demonstration, by the API: eleven rotations, and two thousand employees on them."`
	Context     standalone.Contexts     `cmd:"" help:"Say which servers the commands that use the API may ask."`

	Certs           standalone.Certs           `cmd:"" help:"Make certificates for a test installation of separate processes, and print the flags that go with them."`
	NATSPermissions standalone.NATSPermissions `cmd:"" name:"nats-permissions" help:"Print the users of a NATS server, with the least that each service needs."`

	boot.Commands
}

func main() {
	s := &settings{}
	boot.Main("rotaloom", "Workforce management: schedules for any number of people.", s,
		func(ctx context.Context, app *boot.App) error { return standalone.Start(ctx, s.Serve, app) })
}
