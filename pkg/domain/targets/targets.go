// Package targets has the settings with the addresses of other services. A program embeds those of
// the services that it calls. Each address is a name that gRPC resolves.
package targets

// Auth is the address of the auth service.
type Auth struct {
	AuthTarget string `default:"dns:///auth:8443" help:"Address of the auth service."`
}

// Commons is the address of the commons service.
type Commons struct {
	CommonsTarget string `default:"dns:///commons:8443" help:"Address of the commons service."`
}

// Timekeeping is the address of the timekeeping service.
type Timekeeping struct {
	TimekeepingTarget string `default:"dns:///timekeeping:8443" help:"Address of the timekeeping service."`
}

// Scheduling is the address of the scheduling service.
type Scheduling struct {
	SchedulingTarget string `default:"dns:///scheduling:8443" help:"Address of the scheduling service."`
}

// Recruiting is the address of the recruiting service.
type Recruiting struct {
	RecruitingTarget string `default:"dns:///recruiting:8443" help:"Address of the recruiting service."`
}

// Platform is the address of the platform service.
type Platform struct {
	PlatformTarget string `default:"dns:///platform:8443" help:"Address of the platform service."`
}
