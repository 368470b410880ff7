// Package targets holds the settings that say where the services of other domains are. A
// program embeds those of the services that it calls. Each is a name as gRPC resolves it.
package targets

// Auth is where the auth service is.
type Auth struct {
	AuthTarget string `default:"dns:///auth:8443" help:"Where the auth service is."`
}

// Commons is where the commons service is.
type Commons struct {
	CommonsTarget string `default:"dns:///commons:8443" help:"Where the commons service is."`
}

// Timekeeping is where the timekeeping service is.
type Timekeeping struct {
	TimekeepingTarget string `default:"dns:///timekeeping:8443" help:"Where the timekeeping service is."`
}

// Scheduling is where the scheduling service is.
type Scheduling struct {
	SchedulingTarget string `default:"dns:///scheduling:8443" help:"Where the scheduling service is."`
}

// Platform is where the platform service is.
type Platform struct {
	PlatformTarget string `default:"dns:///platform:8443" help:"Where the platform service is."`
}
