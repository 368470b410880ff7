// Package application keeps the applications of candidates for opportunities, with the comments on them.
package application

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

const (
	// CodeUnknown (404; 400 for one in a body): no application has the id, or the caller may not see it. List the applications.
	CodeUnknown = "WRL-50401"
	// CodeMissing (400): a required property is missing. Send it.
	CodeMissing = "WRL-50402"
	// CodeInvalid (400): a property has a value that is not allowed. Correct it.
	CodeInvalid = "WRL-50403"
	// CodeTwice (409): the candidate has applied for the opportunity already. Read that application.
	CodeTwice = "WRL-50404"
	// CodeNotPublished (409): only a published opportunity takes applications. Publish it, or choose another one.
	CodeNotPublished = "WRL-50405"
	// CodeStep (409): the application is at another step than origin_step, or its opportunity has no
	// recruiting process. Read the application.
	CodeStep = "WRL-50406"
	// CodeStepUnknown (400): the recruiting process of the opportunity has no such step. Read the process.
	CodeStepUnknown = "WRL-50407"
	// CodeProcessed (409): the candidate is hired, so the application stays as it is. Nothing is to be done.
	CodeProcessed = "WRL-50408"
)

type (
	application = recruitingv1.Application
	byID        = recruitingv1.GetApplicationRequest
	details     = recruitingv1.HireDetails
	ref         = recruitingv1.Ref
)

// Applications is the table of applications. Callers must restrict it to the Visible ones.
var Applications = record.Table[*application]{Name: "application", What: "application", Unknown: CodeUnknown}

// Visible returns the condition for the applications that the caller may see: the ones for opportunities
// that the caller may see. The row of the application is "r".
func Visible(ctx context.Context) record.Condition {
	return opportunity.VisibleThrough(ctx, "opportunity_id")
}

// VisibleCandidates returns the condition for the candidates with applications that the caller may see.
// The row of the candidate is "r".
func VisibleCandidates(ctx context.Context) record.Condition {
	sql, person, _ := opportunity.VisibleRow(ctx, "o")
	return record.Condition{
		SQL: `EXISTS (SELECT FROM application a JOIN opportunity o ON o.tenant_id = a.tenant_id AND o.id = a.opportunity_id
WHERE a.tenant_id = r.tenant_id AND a.candidate_id = r.id AND (` + sql + `))`,
		Args: pgx.NamedArgs{"visible_person": person},
	}
}

func missing(path string) error {
	return fault.Invalid(CodeMissing, path+" is missing. Send it.").WithMembers(path)
}

func invalid(path, problem string) error {
	return fault.Invalid(CodeInvalid, path+" "+problem).WithMembers(path)
}
