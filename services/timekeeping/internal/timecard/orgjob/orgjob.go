// Package orgjob finds the jobs that punches and pay code edits refer to, and converts references to
// jobs to the text that timecards store.
package orgjob

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Name identifies the job of an item of an employee on its day. The zero Name means that the item
// has no job.
type Name struct {
	employee int64
	day      civil.Date
	id       int64
	path     string
}

// NewName returns the Name for a ref. The id has priority over the qualifier.
func NewName(employee int64, day civil.Date, ref *commonv1.Ref) Name {
	switch {
	case ref != nil && ref.Id != nil:
		return Name{employee, day, ref.GetId(), ""}
	case ref.GetQualifier() != "":
		return Name{employee, day, 0, ref.GetQualifier()}
	}
	return Name{}
}

// maxPath is the maximum length of a location path, in bytes.
const maxPath = 2000

// isPossible reports whether any job can have the name.
func (n Name) isPossible() bool {
	return n.id > 0 || n.id == 0 && n.path != "" && len(n.path) <= maxPath && utf8.ValidString(n.path) && !strings.ContainsRune(n.path, 0)
}

// Jobs are the paths of the jobs that were found.
type Jobs map[Name]string

// Path returns the path of the job of an item, or "" if the item has no job. It returns an error if
// the job does not exist on the day.
func (j Jobs) Path(n Name) (string, error) {
	path, ok := j[n]
	switch {
	case ok || n == Name{}:
		return path, nil
	case n.path == "":
		return "", fault.Invalid(timecardfault.CodeUnknownJob, fmt.Sprintf("There is no job with the id %d on %s. Create its location, or name another job.", n.id, n.day))
	}
	return "", fault.Invalid(timecardfault.CodeUnknownJob, fmt.Sprintf("There is no job %q on %s. Create its location, give an employee this primary job, or name another job.", n.path, n.day))
}

// Resolver finds jobs in commons.
type Resolver struct {
	commons commonsv1.PersonPayServiceClient
}

// NewResolver returns a Resolver that calls a client.
func NewResolver(commons commonsv1.PersonPayServiceClient) *Resolver {
	return &Resolver{commons: commons}
}

// maxPerCall is the maximum number of jobs in one call to commons.
const maxPerCall = 1000

// Resolve finds the jobs of all items of a request. It makes one call for each 1,000 different
// jobs. Do not call it inside a transaction.
func (r *Resolver) Resolve(ctx context.Context, names []Name) (Jobs, error) {
	out := Jobs{}
	asked := map[Name]bool{}
	var list []Name
	for _, n := range names {
		if n.isPossible() && !asked[n] {
			asked[n] = true
			list = append(list, n)
		}
	}
	for part := range slices.Chunk(list, maxPerCall) {
		req := &commonsv1.ResolveJobsRequest{}
		for _, n := range part {
			req.Jobs = append(req.Jobs, &commonsv1.NamedJob{PersonId: n.employee, Day: int32(n.day), Id: n.id, Path: n.path})
		}
		response, err := r.commons.ResolveJobs(ctx, req)
		if err != nil {
			return nil, fmt.Errorf("resolve jobs: %w", err)
		}
		for i, job := range response.GetJobs()[:min(len(part), len(response.GetJobs()))] {
			if job.GetPath() != "" {
				out[part[i]] = job.GetPath()
			}
		}
	}
	return out, nil
}
