// Package hire hires candidates: it creates their persons in commons.
//
// No transaction spans both services. So a hire is first stored as STARTED, with all that the person needs.
// Then commons creates the person, once for the key of the hire. At last the hire is DONE, together with its
// application and its opportunity, or FAILED if commons refused the person. A worker completes hires that a
// crash left STARTED.
package hire

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/offer"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

const (
	// CodeRunning (409): another hire of the candidate is going on. Read the application after a minute.
	CodeRunning = "WRL-50508"
	// CodeTerms (400): the application has no accepted offer, and the request no hire_details with a start_date. Send hire_details.
	CodeTerms = "WRL-50509"
)

type request = recruitingv1.HireApplicantRequest

// Handler serves HireService.
type Handler struct {
	recruitingv1.UnsafeHireServiceServer

	pool    *pg.Pool
	clock   clock.Clock
	log     *slog.Logger
	persons *record.Persons
	commons commonsv1.NewHireServiceClient
}

var _ recruitingv1.HireServiceServer = (*Handler)(nil)

// New returns a Handler. Commons is a connection to the service of persons.
func New(pool *pg.Pool, clk clock.Clock, log *slog.Logger, commons grpc.ClientConnInterface) *Handler {
	return &Handler{pool: pool, clock: clk, log: log, persons: record.NewPersons(commons), commons: commonsv1.NewNewHireServiceClient(commons)}
}

// HireApplicant hires the candidate of an application.
func (h *Handler) HireApplicant(ctx context.Context, req *request) (*recruitingv1.Hire, error) {
	if err := application.CheckDetails("hire_details", req.GetHireDetails()); err != nil {
		return nil, err
	}
	if err := application.CheckPersons(ctx, h.persons, "hire_details", req.GetHireDetails()); err != nil {
		return nil, err
	}
	var s *started
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		s, err = h.start(ctx, tx, req)
		return err
	})
	if pgerr.IsUnique(err, "hire_once") {
		err = errRunning()
	}
	if err != nil {
		return nil, err
	}
	return h.complete(ctx, s)
}

// start stores a hire as STARTED, and takes a position of the opportunity.
func (h *Handler) start(ctx context.Context, tx pgx.Tx, req *request) (*started, error) {
	a, err := application.Applications.Lock(ctx, tx, req.GetId(), application.Visible(ctx))
	if err != nil {
		return nil, err
	}
	if a.Body.GetIsProcessed() {
		return nil, fault.Conflict(application.CodeProcessed, "The candidate is hired already.")
	}
	c, err := candidate.Candidates.Get(ctx, tx, a.Body.GetCandidate().GetId(), record.Condition{})
	if err != nil {
		return nil, err
	}
	if req.HireDetails == nil {
		if req.HireDetails, err = offer.ReadAccepted(ctx, tx, a.ID); err != nil {
			return nil, err
		}
	}
	if req.GetHireDetails().GetStartDate() == "" {
		return nil, fault.Invalid(CodeTerms, "The hire needs an accepted offer or hire_details, with a start_date.").WithMembers("hire_details.start_date")
	}
	if err := application.ResolveDetails(ctx, tx, "hire_details", req.GetHireDetails()); err != nil {
		return nil, err
	}
	o, err := takePosition(ctx, tx, a)
	if err != nil {
		return nil, err
	}
	s := &started{TenantID: tenant.Of(ctx), ID: uuid.NewString(), request: req}
	req.Id, req.Employee = a.ID, describe(req, c.Body)
	if err := placeInJob(ctx, tx, req, o); err != nil {
		return nil, err
	}
	return s, s.insert(ctx, tx, a.Body.GetOpportunity().GetId())
}

func errRunning() error {
	return fault.Conflict(CodeRunning, "Another hire of the candidate is going on. Read the application after a minute.")
}

// takePosition locks the opportunity of an application, and returns an error if the hires that are done or going on
// fill all positions. A client that repeats an interrupted hire learns that it goes on, also if it took the last
// position.
func takePosition(ctx context.Context, tx pgx.Tx, a *record.Record[*recruitingv1.Application]) (*recruitingv1.Opportunity, error) {
	o, err := opportunity.Opportunities.Lock(ctx, tx, a.Body.GetOpportunity().GetId(), record.Condition{})
	if err != nil {
		return nil, err
	}
	if o.Body.GetIsContinuousOpening() {
		return o.Body, nil
	}
	var running int32
	var own bool
	err = tx.QueryRow(ctx, `SELECT count(*), coalesce(bool_or(application_id = $3), false) FROM hire WHERE tenant_id = $1 AND opportunity_id = $2 AND state = 'STARTED'`,
		tenant.Of(ctx), o.ID, a.ID).Scan(&running, &own)
	if err != nil {
		return nil, fmt.Errorf("count the hires of an opportunity: %w", err)
	}
	if own {
		return nil, errRunning()
	}
	if positions := o.Body.GetHeadCount(); positions.GetHired()+running >= positions.GetMax() {
		return nil, fault.Conflict(opportunity.CodeFilled, fmt.Sprintf("All %d positions of the opportunity are filled.", positions.GetMax()))
	}
	return o.Body, nil
}

// describe returns the new hire of a request, with what follows from the candidate and the terms.
func describe(req *request, c *recruitingv1.Candidate) *commonsv1.NewHire {
	in := req.GetEmployee()
	if in == nil {
		in = &commonsv1.NewHire{}
	}
	terms, pay, at := req.GetHireDetails(), req.GetHireDetails().GetCompensation(), c.GetContactInfo().GetAddress()
	for _, text := range []struct {
		to   *string
		from string
	}{
		{&in.FirstName, c.GetName().GetFirst()},
		{&in.MiddleName, c.GetName().GetMiddle()},
		{&in.LastName, c.GetName().GetLast()},
		{&in.EmailAddress, c.GetContactInfo().GetEmail()},
		{&in.HomePhone, c.GetContactInfo().GetPhone().GetPrimary()},
		{&in.AddressLine1, at.GetLine1()},
		{&in.AddressLine2, at.GetLine2()},
		{&in.City, at.GetCity()},
		{&in.ZipOrPostalCode, at.GetPostalCode()},
		{&in.Country, at.GetCountry().GetCode()},
		{&in.HireDate, terms.GetStartDate()},
		{&in.BenefitSeniorityDate, terms.GetStartDate()},
	} {
		if *text.to == "" {
			*text.to = text.from
		}
	}
	if in.GetState() == nil && at.GetState().GetCode() != "" {
		in.State = &commonsv1.NewHireState{OrProvince: at.GetState().GetCode()}
	}
	if in.ScheduledHours == nil && pay != nil {
		in.ScheduledHours = pay.HoursPerWeek
	}
	if in.PayRate == nil && pay != nil && !pay.GetIsSalaried() {
		in.PayRate = pay.PayRate
	}
	return in
}

// finish makes a hire DONE, together with its candidate, its application and its opportunity. The candidate is locked
// first, as its erasure does.
func (h *Handler) finish(ctx context.Context, tx pgx.Tx, s *started, personID int64) error {
	c, err := lockCandidate(ctx, tx, s.request.GetId())
	if err != nil {
		return err
	}
	a, err := application.Applications.Lock(ctx, tx, s.request.GetId(), record.Condition{})
	if err != nil {
		return err
	}
	o, err := opportunity.Opportunities.Lock(ctx, tx, a.Body.GetOpportunity().GetId(), record.Condition{})
	if err != nil {
		return err
	}
	done, err := s.settle(ctx, tx, "DONE", personID, "")
	if err != nil || !done {
		return err
	}
	a.Body.IsProcessed, a.Body.HireDetails = proto.Bool(true), s.request.GetHireDetails()
	if err := application.MoveToEnd(ctx, tx, a); err != nil {
		return err
	}
	equivalent := 1.0
	if d := s.request.GetHireDetails(); d.FullTimeEquivalent != nil {
		equivalent = d.GetFullTimeEquivalent()
	}
	if err := opportunity.Hired(ctx, tx, o, equivalent, clock.OfTenant(ctx, h.clock.Now())); err != nil {
		return err
	}
	return candidate.BecomeInternal(ctx, tx, c, personID)
}

// lockCandidate locks the candidate of an application.
func lockCandidate(ctx context.Context, tx pgx.Tx, applicationID string) (*record.Record[*recruitingv1.Candidate], error) {
	a, err := application.Applications.Get(ctx, tx, applicationID, record.Condition{})
	if err != nil {
		return nil, err
	}
	return candidate.Candidates.Lock(ctx, tx, a.Body.GetCandidate().GetId(), record.Condition{})
}
