package opportunity

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Handler serves OpportunityService.
type Handler struct {
	recruitingv1.UnsafeOpportunityServiceServer

	pool    *pg.Pool
	clock   clock.Clock
	persons *record.Persons
	jobs    commonsv1.JobServiceClient
}

var _ recruitingv1.OpportunityServiceServer = (*Handler)(nil)

// New returns a Handler. Commons is a connection to the service of persons and jobs.
func New(pool *pg.Pool, clk clock.Clock, commons grpc.ClientConnInterface) *Handler {
	return &Handler{pool: pool, clock: clk, persons: record.NewPersons(commons), jobs: commonsv1.NewJobServiceClient(commons)}
}

// ListOpportunities returns a page of the opportunities that the caller may see.
func (h *Handler) ListOpportunities(ctx context.Context, req *recruitingv1.ListOpportunitiesRequest) (*recruitingv1.OpportunityList, error) {
	list, err := Opportunities.List(ctx, h.pool, req, Visible(ctx))
	out := &recruitingv1.OpportunityList{}
	for _, r := range list {
		out.Items = append(out.Items, show(r))
	}
	return out, err
}

// GetOpportunity returns one opportunity, or 404.
func (h *Handler) GetOpportunity(ctx context.Context, req *byID) (*opportunity, error) {
	r, err := Opportunities.Get(ctx, h.pool, req.GetId(), Visible(ctx))
	if err != nil {
		return nil, err
	}
	return show(r), nil
}

// CreateOpportunity stores a new draft.
func (h *Handler) CreateOpportunity(ctx context.Context, o *opportunity) (*opportunity, error) {
	if err := prepare(o, record.Caller(ctx)); err != nil {
		return nil, err
	}
	if err := h.checkJob(ctx, o.GetJob()); err != nil {
		return nil, err
	}
	persons, err := h.persons.Resolve(ctx, map[string]string{
		"recruiter.id": o.GetRecruiter().GetId(), "hiring_manager.id": o.GetHiringManager().GetId(), "onboarding_owner.id": o.GetOnboardingOwner().GetId(),
	})
	if err != nil {
		return nil, err
	}
	personID := func(path string) *int64 {
		if state, ok := persons[path]; ok {
			return new(state.GetPersonId())
		}
		return nil
	}
	columns := record.Columns{
		"recruiter_id": personID("recruiter.id"), "hiring_manager_id": personID("hiring_manager.id"), "onboarding_owner_id": personID("onboarding_owner.id"),
		"is_shared_with_everyone": o.GetIsSharedWithEveryone(), "job_board_ids": boards(o),
	}
	var r *record.Record[*opportunity]
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if columns["recruiting_process_id"], err = resolveReferences(ctx, tx, o); err != nil {
			return err
		}
		if o.RequisitionNumber == "" {
			if o.RequisitionNumber, err = nextNumber(ctx, tx); err != nil {
				return err
			}
		}
		columns["requisition_number"] = o.GetRequisitionNumber()
		r, err = Opportunities.Insert(ctx, tx, o, columns)
		return err
	})
	if pgerr.IsUnique(err, "opportunity_requisition_number") {
		err = fault.Conflict(CodeNumberTaken, fmt.Sprintf("Another opportunity has the requisition number %q.", o.GetRequisitionNumber())).WithMembers("requisition_number")
	}
	if err != nil {
		return nil, err
	}
	return show(r), nil
}

// checkJob returns an error if no job has the code today.
func (h *Handler) checkJob(ctx context.Context, job *recruitingv1.OpportunityJob) error {
	if job == nil {
		return nil
	}
	response, err := h.jobs.ResolveJobCodes(ctx, &commonsv1.ResolveJobCodesRequest{Codes: []string{job.GetCode()}})
	if err != nil {
		return err
	}
	if len(response.GetCodes()) == 0 {
		return fault.Invalid(CodeJobUnknown, fmt.Sprintf("No job has the code %q today.", job.GetCode())).WithMembers("job.code")
	}
	return nil
}

// PublishOpportunity publishes a draft on its job boards.
func (h *Handler) PublishOpportunity(ctx context.Context, req *recruitingv1.ChangeOpportunityRequest) (*opportunity, error) {
	return h.change(ctx, req, func(ctx context.Context, tx pgx.Tx, o *opportunity) error {
		if err := publish(o, clock.OfTenant(ctx, h.clock.Now())); err != nil {
			return err
		}
		return setBoards(ctx, tx, o)
	})
}

// CloseOpportunity closes a published opportunity.
func (h *Handler) CloseOpportunity(ctx context.Context, req *recruitingv1.ChangeOpportunityRequest) (*opportunity, error) {
	return h.change(ctx, req, func(ctx context.Context, _ pgx.Tx, o *opportunity) error {
		return closeOpening(o, clock.OfTenant(ctx, h.clock.Now()))
	})
}

// RefreshOpportunity sets the published date of a published opportunity to the present.
func (h *Handler) RefreshOpportunity(ctx context.Context, req *recruitingv1.ChangeOpportunityRequest) (*opportunity, error) {
	return h.change(ctx, req, func(ctx context.Context, _ pgx.Tx, o *opportunity) error {
		return refresh(o, clock.OfTenant(ctx, h.clock.Now()))
	})
}

// change locks an opportunity, changes it and stores it.
func (h *Handler) change(ctx context.Context, req *recruitingv1.ChangeOpportunityRequest, change func(context.Context, pgx.Tx, *opportunity) error) (*opportunity, error) {
	var r *record.Record[*opportunity]
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if r, err = Opportunities.Lock(ctx, tx, req.GetId(), Visible(ctx)); err != nil {
			return err
		}
		if err = change(ctx, tx, r.Body); err != nil {
			return err
		}
		r, err = Opportunities.Update(ctx, tx, r.ID, r.Body, publication(r.Body))
		return err
	})
	if err != nil {
		return nil, err
	}
	return show(r), nil
}

// publication returns the column that says whether job boards show an opportunity.
func publication(o *opportunity) record.Columns {
	return record.Columns{"is_published": o.GetStatus() == Published}
}

// boards returns the ids of the job boards of an opportunity.
func boards(o *opportunity) []string {
	ids := []string{}
	for _, board := range o.GetJobBoards() {
		ids = append(ids, board.GetId())
	}
	return ids
}
