package assessment

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

const (
	requested = "Requested"
	completed = "Completed"
)

var (
	types    = []string{"Prehire", "WOTC"}
	statuses = []string{requested, "InProgress", completed, "Expired", "Cancelled"}
)

// prepare checks an assessment, sets the default status, and clears the properties that the product sets.
func prepare(a *assessment) error {
	a.Name = strings.TrimSpace(a.GetName())
	if a.GetStatus() == "" {
		a.Status = requested
	}
	var errs []error
	switch {
	case a.GetType() == "":
		errs = append(errs, missing("type"))
	case !slices.Contains(types, a.GetType()):
		errs = append(errs, invalid("type", "must be "+strings.Join(types, " or ")+"."))
	}
	if a.GetName() == "" {
		errs = append(errs, missing("name"))
	}
	if !isAddress(a.GetUrl()) {
		errs = append(errs, invalid("url", "must be an address that begins with https://."))
	}
	if !slices.Contains(statuses, a.GetStatus()) {
		errs = append(errs, invalid("status", "must be one of "+strings.Join(statuses, ", ")+"."))
	} else {
		errs = append(errs, checkResult(a))
	}
	a.Id, a.CreatedAt, a.UpdatedAt, a.Links = "", "", "", nil
	return fault.Join(errs...)
}

// checkResult returns an error if an assessment that is not completed has a result, or if the score exceeds
// the maximum.
func checkResult(a *assessment) error {
	var errs []error
	for path, present := range fault.InOrder(map[string]bool{
		"completed_date": a.GetCompletedDate() != "", "max_score": a.MaxScore != nil, "result": a.GetResult() != "", "score": a.Score != nil,
	}) {
		if present && a.GetStatus() != completed {
			errs = append(errs, invalid(path, fmt.Sprintf("belongs to an assessment with the status %s.", completed)))
		}
	}
	if a.Score != nil && a.MaxScore != nil && a.GetScore() > a.GetMaxScore() {
		errs = append(errs, invalid("score", "must be at most max_score."))
	}
	return fault.Join(errs...)
}

// isAddress reports whether a text is empty or an absolute address with https.
func isAddress(text string) bool {
	if text == "" {
		return true
	}
	address, err := url.Parse(text)
	return err == nil && address.Scheme == "https" && address.Host != ""
}

func missing(path string) error {
	return fault.Invalid(CodeMissing, path+" is missing. Send it.").WithMembers(path)
}

func invalid(path, problem string) error {
	return fault.Invalid(CodeInvalid, path+" "+problem).WithMembers(path)
}

// show returns the assessment of a record with the properties that follow from others.
func show(candidateID string, r *record.Record[*assessment]) *assessment {
	a := r.Show()
	a.Links = []*recruitingv1.Link{{Href: "/v1/recruiting/candidates/" + candidateID + "/assessments/" + r.ID, Rel: "self"}}
	return a
}
