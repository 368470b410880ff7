package application

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Handler serves ApplicationService, ApplicationDocumentService and DispositionService.
type Handler struct {
	recruitingv1.UnsafeApplicationDocumentServiceServer
	recruitingv1.UnsafeApplicationServiceServer
	recruitingv1.UnsafeDispositionServiceServer

	pool    *pg.Pool
	clock   clock.Clock
	persons *record.Persons
}

var (
	_ recruitingv1.ApplicationDocumentServiceServer = (*Handler)(nil)
	_ recruitingv1.ApplicationServiceServer         = (*Handler)(nil)
	_ recruitingv1.DispositionServiceServer         = (*Handler)(nil)
)

// New returns a Handler. Commons is a connection to the service of persons.
func New(pool *pg.Pool, clk clock.Clock, commons grpc.ClientConnInterface) *Handler {
	return &Handler{pool: pool, clock: clk, persons: record.NewPersons(commons)}
}

// ListApplications returns a page of the applications that the caller may see.
func (h *Handler) ListApplications(ctx context.Context, req *recruitingv1.ListApplicationsRequest) (*recruitingv1.ApplicationList, error) {
	return h.list(ctx, req, Visible(ctx))
}

// ListCandidateApplications returns a page of the applications of a candidate, or 404.
func (h *Handler) ListCandidateApplications(ctx context.Context, req *recruitingv1.ListCandidateApplicationsRequest) (*recruitingv1.ApplicationList, error) {
	c, err := candidate.Candidates.Get(ctx, h.pool, req.GetCandidateId(), candidate.Visible(ctx, VisibleCandidates))
	if err != nil {
		return nil, err
	}
	return h.list(ctx, req, Visible(ctx).And(under(c.ID)))
}

func (h *Handler) list(ctx context.Context, q record.Query, filter record.Condition) (*recruitingv1.ApplicationList, error) {
	list, err := Applications.List(ctx, h.pool, q, filter)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h.pool, list...)
	return &recruitingv1.ApplicationList{Items: out}, err
}

// GetApplication returns one application, or 404.
func (h *Handler) GetApplication(ctx context.Context, req *byID) (*application, error) {
	r, err := Applications.Get(ctx, h.pool, req.GetId(), Visible(ctx))
	if err != nil {
		return nil, err
	}
	return h.showOne(ctx, r)
}

func (h *Handler) showOne(ctx context.Context, r *record.Record[*application]) (*application, error) {
	out, err := show(ctx, h.pool, r)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// CreateApplication stores the application of a candidate for an opportunity.
func (h *Handler) CreateApplication(ctx context.Context, a *application) (*application, error) {
	if err := prepare(a, record.Caller(ctx), clock.OfTenant(ctx, h.clock.Now())); err != nil {
		return nil, err
	}
	if err := CheckPersons(ctx, h.persons, "hire_details", a.GetHireDetails()); err != nil {
		return nil, err
	}
	var r *record.Record[*application]
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		r, err = create(ctx, tx, a)
		return err
	})
	if pgerr.IsUnique(err, "application_once") {
		err = fault.Conflict(CodeTwice, "The candidate has applied for the opportunity already.").WithMembers("candidate.id", "opportunity.id")
	}
	if err != nil {
		return nil, err
	}
	return h.showOne(ctx, r)
}

// create checks the references and answers of a new application, and stores it at the first step of the
// recruiting process.
func create(ctx context.Context, tx pgx.Tx, a *application) (*record.Record[*application], error) {
	c, err := candidate.Candidates.Refer(ctx, tx, "candidate.id", a.GetCandidate().GetId(), candidate.Visible(ctx, VisibleCandidates))
	if err != nil {
		return nil, err
	}
	o, err := opportunity.Opportunities.Refer(ctx, tx, "opportunity.id", a.GetOpportunity().GetId(), opportunity.Visible(ctx))
	if err != nil {
		return nil, err
	}
	a.Candidate.Id, a.Opportunity.Id = c.ID, o.ID
	if a.GetCreationMethod() != candidateImport && o.Body.GetStatus() != opportunity.Published {
		return nil, fault.Conflict(CodeNotPublished, fmt.Sprintf("The opportunity has the status %s. Only a published one takes applications.", o.Body.GetStatus())).WithMembers("opportunity.id")
	}
	if err := resolveReferences(ctx, tx, a, o); err != nil {
		return nil, err
	}
	if err := checkAnswers(ctx, tx, a, o); err != nil {
		return nil, err
	}
	columns := record.Columns{"candidate_id": c.ID, "opportunity_id": o.ID}
	if a.GetJobBoard() != nil {
		columns["job_board_id"] = a.GetJobBoard().GetId()
	}
	return Applications.Insert(ctx, tx, a, columns)
}

// resolveReferences checks the references of an application for an opportunity, and sets its posting and
// its first step.
func resolveReferences(ctx context.Context, tx pgx.Tx, a *application, o *record.Record[*recruitingv1.Opportunity]) error {
	if a.GetApplicantSource() != nil {
		if _, _, err := configuration.ApplicantSource.Resolve(ctx, tx, "applicant_source", a.GetApplicantSource()); err != nil {
			return err
		}
	}
	if a.GetJobBoard() != nil {
		board := strings.ToLower(a.GetJobBoard().GetId())
		if !slices.ContainsFunc(o.Body.GetJobBoards(), func(b *recruitingv1.OpportunityJobBoard) bool { return b.GetId() == board }) {
			return invalid("job_board.id", "must be the id of a job board of the opportunity.")
		}
		a.JobBoard.Id, a.JobPosting = board, &recruitingv1.IdRef{Id: PostingID(o.ID, board)}
	}
	if process := o.Body.GetRecruitingProcess(); process != nil {
		stored, _, err := configuration.RecruitingProcess.ResolveGUID(ctx, tx, "opportunity.id", process)
		if err != nil {
			return err
		}
		a.Step = &recruitingv1.Ref{Id: stored.GetSteps()[0].GetId()}
	}
	return ResolveDetails(ctx, tx, "hire_details", a.GetHireDetails())
}

// checkAnswers checks the answers of an application to the questions of an opportunity. Imported
// applications without answers have none to check.
func checkAnswers(ctx context.Context, tx pgx.Tx, a *application, o *record.Record[*recruitingv1.Opportunity]) error {
	imported := a.GetCreationMethod() == candidateImport
	if given := a.GetScreeningQuestionResponses(); !imported || len(given) > 0 {
		list := answers(given, func(r *recruitingv1.ScreeningResponse) string { return r.GetQuestion().GetId() })
		if err := opportunity.Answered(ctx, tx, "screening_question_responses", o.ID, list); err != nil {
			return err
		}
		for i, r := range given {
			r.Question.Id, r.Question.Type = strings.ToLower(r.GetQuestion().GetId()), list[i].Type
		}
	}
	if given := a.GetCountryQuestionResponses(); !imported || len(given) > 0 {
		list := answers(given, func(r *recruitingv1.CountryResponse) string { return r.GetQuestion().GetId() })
		return opportunity.CountryAnswered(ctx, tx, "country_question_responses", o.Body, list)
	}
	return nil
}

// postingSpace is the namespace of the ids of postings.
var postingSpace = uuid.MustParse("5c1c2f0e-9a0d-4f5e-8d56-2b7c3f4a9e10")

// PostingID returns the GUID of the posting of an opportunity on a job board. Both are GUIDs in lower case.
func PostingID(opportunityID, boardID string) string {
	return uuid.NewSHA1(postingSpace, []byte(opportunityID+"/"+boardID)).String()
}
