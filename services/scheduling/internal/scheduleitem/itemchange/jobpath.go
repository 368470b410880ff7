package itemchange

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const (
	// maxJobPaths is the largest number of paths in one question to commons.
	maxJobPaths = 1000
	// jobPathTimeout bounds the time that a write waits for a warning.
	jobPathTimeout = 2 * time.Second
)

// Locations finds the locations that paths name.
type Locations interface {
	ResolveLocations(ctx context.Context, req *commonsv1.ResolveLocationsRequest, opts ...grpc.CallOption) (*commonsv1.ResolveLocationsResponse, error)
}

// warnUnknownJobs adds a warning to the response for each path of a job in the entries that no
// location has. Entries are written without the warning if commons does not respond. Do not call it
// in a transaction.
func (f *Editor[M]) warnUnknownJobs(ctx context.Context, sent []M) error {
	if f.Locations == nil || f.Jobs == nil {
		return nil
	}
	seen := map[string]bool{}
	req := &commonsv1.ResolveLocationsRequest{OnlyUnknown: true}
	for _, m := range sent {
		for _, job := range f.Jobs(m) {
			path := job.GetQualifier()
			if path != "" && job.GetId() == 0 && !seen[path] && len(req.GetPaths()) < maxJobPaths {
				seen[path] = true
				req.Paths = append(req.Paths, path)
			}
		}
	}
	if len(req.GetPaths()) == 0 {
		return nil
	}
	asked, cancel := context.WithTimeout(ctx, jobPathTimeout)
	defer cancel()
	found, err := f.Locations.ResolveLocations(asked, req)
	if err != nil {
		f.Log.WarnContext(ctx, "unknown paths of jobs were not looked for", "error", err)
		return nil
	}
	return jobpath.Warn(ctx, found.GetUnknownPaths())
}
