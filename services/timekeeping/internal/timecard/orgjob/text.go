package orgjob

import (
	"fmt"
	"strconv"
	"strings"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// byID begins the text of a job if only its id is known.
const byID = "\x01"

// Text returns the text that timecards store for the job that a ref names, or "" without a job.
func Text(ref *commonv1.Ref) string {
	if ref.GetQualifier() == "" && ref != nil && ref.Id != nil {
		return fmt.Sprintf("%s%d", byID, ref.GetId())
	}
	return ref.GetQualifier()
}

// Ref returns a ref to the job with a stored text, or nil for "".
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
