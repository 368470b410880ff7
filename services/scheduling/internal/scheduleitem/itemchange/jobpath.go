package itemchange

import (
	"context"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// warnOfJobs adds a warning to the response for each path of a job in the entries that no location
// has. Do not call it in a transaction.
func (f *Editor[M]) warnOfJobs(ctx context.Context, sent []M) error {
	if f.Jobs == nil {
		return nil
	}
	var jobs []*commonv1.Ref
	for _, m := range sent {
		jobs = append(jobs, f.Jobs(m)...)
	}
	return f.JobPaths.Warn(ctx, jobs)
}
