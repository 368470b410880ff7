package jobpath

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const (
	// maxPaths is the largest number of paths in one question to commons.
	maxPaths = 1000
	// timeout bounds the time that a write waits for a warning.
	timeout = 2 * time.Second
)

// Locations finds the locations that paths name. Commons implements it.
type Locations interface {
	ResolveLocations(ctx context.Context, req *commonsv1.ResolveLocationsRequest, opts ...grpc.CallOption) (*commonsv1.ResolveLocationsResponse, error)
}

// Checker asks commons for the paths of jobs that no location has. A nil Checker warns of none.
type Checker struct {
	Locations Locations
	// Log reports that commons did not respond.
	Log *slog.Logger
}

// Warn adds a warning to the response for each path of a job that no location has. Without a response of commons the
// request is carried out without warnings. Do not call it in a transaction.
func (c *Checker) Warn(ctx context.Context, jobs []*commonv1.Ref) error {
	if c == nil {
		return nil
	}
	seen := map[string]bool{}
	req := &commonsv1.ResolveLocationsRequest{OnlyUnknown: true}
	for _, job := range jobs {
		path := job.GetQualifier()
		if path != "" && job.GetId() == 0 && !seen[path] && len(req.GetPaths()) < maxPaths {
			seen[path] = true
			req.Paths = append(req.Paths, path)
		}
	}
	if len(req.GetPaths()) == 0 {
		return nil
	}
	asked, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := c.Locations.ResolveLocations(asked, req)
	if err != nil {
		c.Log.WarnContext(ctx, "unknown paths of jobs were not looked for", "error", err)
		return nil
	}
	return Warn(ctx, found.GetUnknownPaths())
}
