// Package inventory lists the services of the standalone program. The commands that work on all services read
// the table.
package inventory

import (
	"context"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/commons"
	"github.com/rotaloom/rotaloom/services/platform"
	"github.com/rotaloom/rotaloom/services/recruiting"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

// Config has the settings of the services.
type Config struct {
	Auth        auth.Config        `embed:"" envprefix:"ROTALOOM_"`
	Commons     commons.Config     `embed:"" prefix:"commons-" envprefix:"ROTALOOM_COMMONS_"`
	Timekeeping timekeeping.Config `embed:"" prefix:"timekeeping-" envprefix:"ROTALOOM_TIMEKEEPING_"`
	Scheduling  scheduling.Config  `embed:"" prefix:"scheduling-" envprefix:"ROTALOOM_SCHEDULING_"`
	Recruiting  recruiting.Config  `embed:"" prefix:"recruiting-" envprefix:"ROTALOOM_RECRUITING_"`
	Platform    platform.Config    `embed:"" prefix:"platform-" envprefix:"ROTALOOM_PLATFORM_"`
}

// Service is a row of the table.
type Service struct {
	Name string
	// Calls are the services that its program calls. They precede it in the table.
	Calls []string
	// ServesEdges means that it has operations for edges.
	ServesEdges bool
	// Migrations returns its schema.
	Migrations func() ([]pg.Migrations, error)
	// Copies returns its copies of data of other services. Services without events have no function.
	Copies func(pool *pg.Pool) []*replica.Replica
	// Topics returns the topics that it owns and other services copy. Services without topics have no function.
	Topics func() []replica.Topic
	// NewestTimes are queries for the newest time that it has written, if it is later than $1.
	NewestTimes []string
	// New returns the service. The function dial returns a connection to a service in Calls.
	New func(ctx context.Context, cfg Config, e serve.Backends, dial func(service string) grpc.ClientConnInterface) (serve.Service, error)
}

// HasEvents reports whether the service sends and consumes events.
func (s Service) HasEvents() bool { return s.Copies != nil }

// Queries for the newest times of audit rows and of events.
const (
	newestAudited = `SELECT max(occurred_at) FROM audit_event WHERE occurred_at > $1`
	newestEvent   = `SELECT max(created_at) FROM outbox WHERE created_at > $1`
)

// Services returns the services in the order in which they start.
func Services() []Service {
	return []Service{
		{
			Name: "auth", ServesEdges: true, Migrations: auth.Migrations, NewestTimes: []string{newestAudited},
			New: func(ctx context.Context, cfg Config, e serve.Backends, _ func(string) grpc.ClientConnInterface) (serve.Service, error) {
				policies := policy.NewTable(nil)
				return auth.New(ctx, cfg.Auth, auth.Deps{Backends: e, Permissions: policies.Permissions(), OwnRecordActions: policies.OwnRecordActions()})
			},
		},
		{
			Name: "commons", Calls: []string{"auth"}, Migrations: commons.Migrations, Copies: commons.Copies, Topics: commons.Topics,
			NewestTimes: []string{newestAudited, newestEvent},
			New: func(ctx context.Context, cfg Config, e serve.Backends, dial func(string) grpc.ClientConnInterface) (serve.Service, error) {
				return commons.New(ctx, cfg.Commons, commons.Deps{Backends: e, Auth: dial("auth")})
			},
		},
		{
			Name: "scheduling", Calls: []string{"auth", "commons"}, Migrations: scheduling.Migrations, Copies: scheduling.Copies, Topics: scheduling.Topics,
			NewestTimes: []string{newestAudited, newestEvent, scheduling.NewestChange},
			New: func(ctx context.Context, cfg Config, e serve.Backends, dial func(string) grpc.ClientConnInterface) (serve.Service, error) {
				service, err := scheduling.New(ctx, cfg.Scheduling, scheduling.Deps{Backends: e, Commons: dial("commons")})
				if err != nil {
					return nil, err
				}
				return service.WithPropagator(), nil
			},
		},
		{
			Name: "timekeeping", Calls: []string{"auth", "commons", "scheduling"}, Migrations: timekeeping.Migrations, Copies: timekeeping.Copies, Topics: timekeeping.Topics,
			NewestTimes: []string{newestAudited, newestEvent},
			New: func(ctx context.Context, cfg Config, e serve.Backends, dial func(string) grpc.ClientConnInterface) (serve.Service, error) {
				return timekeeping.New(ctx, cfg.Timekeeping, timekeeping.Deps{Backends: e, Auth: dial("auth"), Commons: dial("commons"), Scheduling: dial("scheduling")})
			},
		},
		{
			Name: "recruiting", Calls: []string{"auth", "commons"}, Migrations: recruiting.Migrations, NewestTimes: []string{newestAudited},
			New: func(ctx context.Context, cfg Config, e serve.Backends, dial func(string) grpc.ClientConnInterface) (serve.Service, error) {
				return recruiting.New(ctx, cfg.Recruiting, recruiting.Deps{Backends: e, Commons: dial("commons")})
			},
		},
		{
			Name: "platform", Calls: []string{"auth", "commons", "timekeeping", "scheduling", "recruiting"}, ServesEdges: true, Migrations: platform.Migrations,
			NewestTimes: []string{newestAudited},
			New: func(ctx context.Context, cfg Config, e serve.Backends, dial func(string) grpc.ClientConnInterface) (serve.Service, error) {
				return platform.New(ctx, cfg.Platform, platform.Deps{
					Backends: e, Auth: dial("auth"), Commons: dial("commons"), Timekeeping: dial("timekeeping"), Scheduling: dial("scheduling"),
					Recruiting: dial("recruiting"),
				})
			},
		},
	}
}

// Names returns the names of the services in the order in which they start.
func Names() []string {
	var names []string
	for _, s := range Services() {
		names = append(names, s.Name)
	}
	return names
}

// Conns returns the connections of the edge to running services.
func Conns(running map[string]*rpc.Local) backends.Conns {
	return backends.Conns{
		Auth: running["auth"], Commons: running["commons"], Timekeeping: running["timekeeping"], Scheduling: running["scheduling"],
		Recruiting: running["recruiting"], Platform: running["platform"], Own: running["platform"].Conn("gateway", nil), OwnAuth: running["auth"].Conn("gateway", nil),
	}
}
