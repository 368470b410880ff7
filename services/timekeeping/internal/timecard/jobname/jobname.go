// Package jobname converts references to jobs to the text that timecards store, and back.
package jobname

import (
	"fmt"
	"strconv"
	"strings"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// byID begins the name of a job if only its id is known.
const byID = "\x01"

// Of returns the name of the job that a ref names, or "" without a job.
func Of(ref *commonv1.Ref) string {
	if ref.GetQualifier() == "" && ref != nil && ref.Id != nil {
		return fmt.Sprintf("%s%d", byID, ref.GetId())
	}
	return ref.GetQualifier()
}

// Ref returns a ref to the job with a name, or nil for "".
func Ref(job string) *commonv1.Ref {
	if job == "" {
		return nil
	}
	if id, ok := strings.CutPrefix(job, byID); ok {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			return &commonv1.Ref{Id: &n}
		}
	}
	return &commonv1.Ref{Qualifier: &job}
}
