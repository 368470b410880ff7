package application

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// candidateImport is the creation method of applications that another system has taken.
const candidateImport = "CandidateImport"

// The range of the days of an employment.
var (
	firstDay = civil.Of(1881, time.January, 1)
	lastDay  = civil.Of(2199, time.December, 31)
)

// prepare checks a new application, sets the defaults, and clears the properties that the product sets.
// The caller is the GUID of a person, or "".
func prepare(a *application, caller string, now time.Time) error {
	var errs []error
	if a.GetCandidate().GetId() == "" {
		errs = append(errs, missing("candidate.id"))
	}
	if a.GetOpportunity().GetId() == "" {
		errs = append(errs, missing("opportunity.id"))
	}
	if a.GetCreationMethod() != "" && a.GetCreationMethod() != candidateImport {
		errs = append(errs, invalid("creation_method", "must be "+candidateImport+" or empty."))
	}
	errs = append(errs, refuseLists(a))
	applied := now
	if text := a.GetAppliedDate(); text != "" {
		var err error
		if applied, err = civil.ParseInstant(text); err == nil && applied.After(now) {
			err = invalid("applied_date", "must not be in the future.")
		}
		errs = append(errs, err)
	}
	if err := fault.Join(append(errs, CheckDetails("hire_details", a.GetHireDetails()))...); err != nil {
		return err
	}
	a.Candidate = &recruitingv1.ApplicationCandidate{Id: a.GetCandidate().GetId()}
	a.AppliedDate, a.IsProcessed = record.Moment(applied.UnixMicro()), proto.Bool(false)
	a.Id, a.UpdatedAt, a.Creator, a.JobPosting, a.Step, a.Links, a.IsDeleted = "", "", nil, nil, nil, nil, false
	if caller != "" {
		a.Creator = &recruitingv1.IdRef{Id: caller}
	}
	return nil
}

// refuseLists returns an error if an application has lists of its candidate.
func refuseLists(a *application) error {
	var errs []error
	for path, length := range fault.InOrder(map[string]int{
		"behaviors": len(a.GetBehaviors()), "educations": len(a.GetEducations()), "licenses": len(a.GetLicenses()), "motivations": len(a.GetMotivations()),
		"skills": len(a.GetSkills()), "work_experience": len(a.GetWorkExperience()),
	}) {
		if length > 0 {
			errs = append(errs, invalid(path, "must be empty: the list belongs to the candidate. Add the items to the candidate."))
		}
	}
	return fault.Join(errs...)
}

// CheckDetails checks the terms of an employment at a path of the request. They may be nil.
func CheckDetails(path string, d *details) error {
	var errs []error
	for _, day := range []struct{ name, text string }{
		{"offer_date", d.GetOfferDate()}, {"accept_date", d.GetAcceptDate()}, {"hire_date", d.GetHireDate()}, {"start_date", d.GetStartDate()},
	} {
		if day.text == "" {
			continue
		}
		date, err := civil.ParseDate(day.text)
		if err == nil && (date < firstDay || date > lastDay) {
			err = invalid(path+"."+day.name, fmt.Sprintf("must be between %s and %s.", firstDay, lastDay))
		}
		errs = append(errs, err)
	}
	if d != nil && d.FullTimeEquivalent != nil && d.GetFullTimeEquivalent() <= 0 {
		errs = append(errs, invalid(path+".full_time_equivalent", "must be above 0."))
	}
	return fault.Join(errs...)
}

// answers returns the answers in responses to questions.
func answers[T interface{ GetResponse() string }](list []T, question func(T) string) []opportunity.Answer {
	out := make([]opportunity.Answer, len(list))
	for i, r := range list {
		out[i] = opportunity.Answer{QuestionID: question(r), Text: r.GetResponse()}
	}
	return out
}
