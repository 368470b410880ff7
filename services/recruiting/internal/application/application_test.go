package application

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func TestAnApplicationBeginsAtTheFirstStep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	opportunityID, candidateID := f.opportunity(nil), f.candidate("ada@example.test")
	in := request(strings.ToUpper(candidateID), strings.ToUpper(opportunityID))
	in.JobBoard = &recruitingv1.IdRef{Id: strings.ToUpper(board)}
	in.HireDetails = &details{StartDate: "2026-06-01", HiringManager: &recruitingv1.IdRef{Id: record.PersonGUID(7)}}
	_, err := f.CreateApplication(f.as(0), in)
	require.True(t, fault.HasCode(err, "WRL-50201"), "the caller does not see the candidate: %v", err)
	a, err := f.CreateApplication(f.ctx, in)
	require.NoError(t, err)
	assert.Equal(t, "Applied", a.GetStep().GetName())
	assert.Equal(t, candidateID, a.GetCandidate().GetId())
	assert.Equal(t, "Moreno", a.GetCandidate().GetName().GetLast())
	assert.Equal(t, "ada@example.test", a.GetCandidate().GetContactInfo().GetEmail())
	assert.Equal(t, PostingID(opportunityID, board), a.GetJobPosting().GetId())
	assert.Equal(t, record.Moment(now.UnixMicro()), a.GetAppliedDate())
	read, err := f.GetApplication(f.ctx, &byID{Id: a.GetId()})
	require.NoError(t, err)
	assert.True(t, proto.Equal(a, read), "%v\n%v", a, read)
	_, err = f.GetApplication(tenant.With(t.Context(), 2), &byID{Id: a.GetId()})
	require.True(t, fault.HasStatus(err, 404), "%v", err)
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	open := f.opportunity(nil)
	draft := f.opportunity(func(o *recruitingv1.Opportunity, _ record.Columns) { o.Status = opportunity.Draft })
	candidateID := f.candidate("ada@example.test")
	for _, c := range []struct {
		name, code, member string
		change             func(*application)
	}{
		{"no candidate", CodeMissing, "candidate.id", func(a *application) { a.Candidate = nil }},
		{"no opportunity", CodeMissing, "opportunity.id", func(a *application) { a.Opportunity = nil }},
		{"an unknown candidate", "WRL-50201", "candidate.id", func(a *application) { a.Candidate.Id = board }},
		{"an unknown opportunity", "WRL-50301", "opportunity.id", func(a *application) { a.Opportunity.Id = board }},
		{"a draft", CodeNotPublished, "opportunity.id", func(a *application) { a.Opportunity.Id = draft }},
		{"another method", CodeInvalid, "creation_method", func(a *application) { a.CreationMethod = "Magic" }},
		{"a list of the candidate", CodeInvalid, "skills", func(a *application) { a.Skills = []*recruitingv1.CandidateSkill{{}} }},
		{"the future", CodeInvalid, "applied_date", func(a *application) { a.AppliedDate = "2026-05-04T09:31:00Z" }},
		{"an unknown source", "WRL-50104", "applicant_source", func(a *application) { a.ApplicantSource = &ref{Name: "x"} }},
		{"another board", CodeInvalid, "job_board.id", func(a *application) { a.JobBoard = &recruitingv1.IdRef{Id: open} }},
		{"an early day", CodeInvalid, "hire_details.hire_date", func(a *application) { a.HireDetails = &details{HireDate: "1880-12-31"} }},
		{"a late day", CodeInvalid, "hire_details.start_date", func(a *application) { a.HireDetails = &details{StartDate: "2200-01-01"} }},
		{"no full-time equivalent", CodeInvalid, "hire_details.full_time_equivalent", func(a *application) { a.HireDetails = &details{FullTimeEquivalent: proto.Float64(0)} }},
		{"an unknown manager", "WRL-50601", "hire_details.hiring_manager.id", func(a *application) {
			a.HireDetails = &details{HiringManager: &recruitingv1.IdRef{Id: record.PersonGUID(1000)}}
		}},
		{"an unknown company", "WRL-50104", "hire_details.company", func(a *application) { a.HireDetails = &details{Company: &ref{Name: "x"}} }},
		{"an unknown tax location", "WRL-50104", "hire_details.tax_location", func(a *application) { a.HireDetails = &details{TaxLocation: &recruitingv1.IdRef{Id: board}} }},
		{"an unknown unit", "WRL-50104", "hire_details.org_units[0]", func(a *application) { a.HireDetails = &details{OrgUnits: []*ref{{Name: "x"}}} }},
		{"an unknown question", "WRL-50308", "screening_question_responses[0].question.id", func(a *application) {
			a.ScreeningQuestionResponses = []*recruitingv1.ScreeningResponse{{Question: &recruitingv1.ScreeningResponseQuestion{Id: board}, Response: "x"}}
		}},
		{"an unknown country question", "WRL-50308", "country_question_responses[0].question.id", func(a *application) {
			a.CountryQuestionResponses = []*recruitingv1.CountryResponse{{Question: &recruitingv1.IdRef{Id: board}, Response: "x"}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := request(candidateID, open)
			c.change(in)
			_, err := f.CreateApplication(f.ctx, in)
			require.True(t, fault.HasCode(err, c.code), "%v", err)
			assert.Equal(t, []string{c.member}, fault.FromError(err).Members)
		})
	}
	imported := request(candidateID, draft)
	imported.CreationMethod, imported.AppliedDate = candidateImport, "2025-01-31T08:00:00+01:00"
	a, err := f.CreateApplication(f.ctx, imported)
	require.NoError(t, err, "imports need no published opportunity")
	assert.Equal(t, "2025-01-31T07:00:00.000000Z", a.GetAppliedDate())
}

func TestACandidateAppliesOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	opportunityID, candidateID := f.opportunity(nil), f.candidate("ada@example.test")
	var won, lost atomic.Int32
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			_, err := f.CreateApplication(f.ctx, request(candidateID, opportunityID))
			switch {
			case err == nil:
				won.Add(1)
			case fault.HasCode(err, CodeTwice):
				lost.Add(1)
			default:
				return err
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	assert.EqualValues(t, 1, won.Load())
	assert.EqualValues(t, 7, lost.Load())
}

func TestRestrictedCallersSeeApplicationsOfTheirOpportunities(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	own := f.apply("own@example.test", f.opportunity(func(_ *recruitingv1.Opportunity, c record.Columns) { c["recruiter_id"] = int64(7) }))
	other := f.apply("other@example.test", f.opportunity(nil))
	list, err := f.ListApplications(f.as(7), &recruitingv1.ListApplicationsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetItems(), 1)
	assert.Equal(t, own.GetId(), list.GetItems()[0].GetId())
	_, err = f.GetApplication(f.as(7), &byID{Id: other.GetId()})
	require.True(t, fault.HasCode(err, CodeUnknown), "%v", err)
	_, err = f.CreateApplicationComment(f.as(7), &recruitingv1.CreateApplicationCommentRequest{Id: other.GetId(), Body: &comment{Comment: "x"}})
	require.True(t, fault.HasCode(err, CodeUnknown), "%v", err)
	byCandidate, err := f.ListCandidateApplications(f.as(7), &recruitingv1.ListCandidateApplicationsRequest{CandidateId: own.GetCandidate().GetId()})
	require.NoError(t, err)
	assert.Len(t, byCandidate.GetItems(), 1)
	_, err = f.ListCandidateApplications(f.as(7), &recruitingv1.ListCandidateApplicationsRequest{CandidateId: other.GetCandidate().GetId()})
	require.True(t, fault.HasCode(err, "WRL-50201"), "%v", err)
	for email, n := range map[string]int{"OWN@example.test": 1, "other@example.test": 0} {
		found, err := f.LookUpEasyApply(f.as(7), &recruitingv1.LookUpEasyApplyRequest{Email: email})
		require.NoError(t, err)
		assert.Len(t, found.GetItems(), n, email)
	}
}

func TestCommentsHaveAuthors(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a := f.apply("ada@example.test", f.opportunity(func(_ *recruitingv1.Opportunity, c record.Columns) { c["recruiter_id"] = int64(7) }))
	add := func(c *comment) (*comment, error) {
		return f.CreateApplicationComment(f.as(7), &recruitingv1.CreateApplicationCommentRequest{Id: a.GetId(), Body: c})
	}
	first, err := add(&comment{Comment: "Good", IsImportant: true})
	require.NoError(t, err)
	assert.Equal(t, record.PersonGUID(7), first.GetAuthor().GetId())
	second, err := add(&comment{Comment: "Better", Author: &recruitingv1.IdRef{Id: record.PersonGUID(8)}})
	require.NoError(t, err)
	assert.Equal(t, record.PersonGUID(8), second.GetAuthor().GetId())
	_, err = add(&comment{Comment: " "})
	require.True(t, fault.HasCode(err, CodeMissing), "%v", err)
	_, err = add(&comment{Comment: "x", Author: &recruitingv1.IdRef{Id: record.PersonGUID(1000)}})
	require.True(t, fault.HasCode(err, "WRL-50601"), "%v", err)
	list, err := f.ListApplicationComments(f.as(7), &recruitingv1.ListApplicationCommentsRequest{Id: a.GetId()})
	require.NoError(t, err)
	require.Len(t, list.GetItems(), 2)
	assert.True(t, proto.Equal(first, list.GetItems()[0]))
}
