package offer

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// The tables of offers and of their actions. No operation reads an action by its id.
var (
	offers  = record.Table[*offer]{Name: "offer", What: "offer", Unknown: CodeUnknown}
	actions = record.Table[*action]{Name: "offer_action", What: "offer action", Unknown: CodeUnknown}
)

// Handler serves OfferService.
type Handler struct {
	recruitingv1.UnsafeOfferServiceServer

	pool    *pg.Pool
	clock   clock.Clock
	persons *record.Persons
}

var _ recruitingv1.OfferServiceServer = (*Handler)(nil)

// New returns a Handler. Commons is a connection to the service of persons.
func New(pool *pg.Pool, clk clock.Clock, commons grpc.ClientConnInterface) *Handler {
	return &Handler{pool: pool, clock: clk, persons: record.NewPersons(commons)}
}

// limitVisible returns the condition for the offers that the caller may see.
func limitVisible(ctx context.Context) record.Condition {
	return opportunity.VisibleThrough(ctx, "opportunity_id")
}

// ListOffers returns a page of the offers that the caller may see.
func (h *Handler) ListOffers(ctx context.Context, req *recruitingv1.ListOffersRequest) (*recruitingv1.OfferList, error) {
	list, err := offers.List(ctx, h.pool, req, limitVisible(ctx))
	out := &recruitingv1.OfferList{}
	for _, r := range list {
		out.Items = append(out.Items, show(r))
	}
	return out, err
}

// GetOffer returns one offer, or 404.
func (h *Handler) GetOffer(ctx context.Context, req *recruitingv1.GetOfferRequest) (*offer, error) {
	r, err := offers.Get(ctx, h.pool, req.GetId(), limitVisible(ctx))
	if err != nil {
		return nil, err
	}
	return show(r), nil
}

// CreateOffer stores a new draft.
func (h *Handler) CreateOffer(ctx context.Context, o *offer) (out *offer, err error) {
	var unnamed error
	if o.GetApplication().GetId() == "" {
		unnamed = missing("application.id")
	}
	if err := fault.Join(unnamed, application.CheckDetails("hire_details", o.GetHireDetails())); err != nil {
		return nil, err
	}
	if err := application.CheckPersons(ctx, h.persons, "hire_details", o.GetHireDetails()); err != nil {
		return nil, err
	}
	o.Id, o.Status, o.CreatedAt, o.UpdatedAt, o.Links, o.Creator = "", draft, "", "", nil, callerRef(ctx)
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		a, err := application.Applications.Refer(ctx, tx, "application.id", o.GetApplication().GetId(), application.Visible(ctx))
		if err != nil {
			return err
		}
		if a.Body.GetIsProcessed() {
			return fault.Conflict(application.CodeProcessed, "The candidate is hired, so the application needs no offer.").WithMembers("application.id")
		}
		if o.Application.Id = a.ID; o.HireDetails == nil {
			o.HireDetails = a.Body.GetHireDetails()
		}
		if err := application.ResolveDetails(ctx, tx, "hire_details", o.GetHireDetails()); err != nil {
			return err
		}
		r, err := offers.Insert(ctx, tx, o, record.Columns{"application_id": a.ID, "opportunity_id": a.Body.GetOpportunity().GetId()})
		if err == nil {
			out = show(r)
		}
		return err
	})
	if pgerr.IsUnique(err, "offer_open") {
		err = fault.Conflict(CodeOpen, "The application has an open offer already. Withdraw that offer first.").WithMembers("application.id")
	}
	return out, err
}

// SubmitOffer submits a draft for approval.
func (h *Handler) SubmitOffer(ctx context.Context, req *recruitingv1.SubmitOfferRequest) (*offer, error) {
	r, _, err := h.act(ctx, req.GetId(), &action{Action: submit})
	if err != nil {
		return nil, err
	}
	return show(r), nil
}

// ListOfferActions returns a page of the actions on an offer.
func (h *Handler) ListOfferActions(ctx context.Context, req *recruitingv1.ListOfferActionsRequest) (*recruitingv1.OfferActionList, error) {
	o, err := offers.Get(ctx, h.pool, req.GetId(), limitVisible(ctx))
	if err != nil {
		return nil, err
	}
	list, err := actions.List(ctx, h.pool, req, limitToOffer(o.ID))
	out := &recruitingv1.OfferActionList{}
	for _, r := range list {
		out.Items = append(out.Items, showAction(o.ID, r))
	}
	return out, err
}

// CreateOfferAction carries out an action on an offer.
func (h *Handler) CreateOfferAction(ctx context.Context, req *recruitingv1.CreateOfferActionRequest) (*action, error) {
	o, a, err := h.act(ctx, req.GetId(), &action{Action: req.GetBody().GetAction(), Comment: req.GetBody().GetComment()})
	if err != nil {
		return nil, err
	}
	return showAction(o.ID, a), nil
}

// act locks an offer, carries out an action on it, and stores both.
func (h *Handler) act(ctx context.Context, id string, a *action) (o *record.Record[*offer], done *record.Record[*action], err error) {
	a.Author = callerRef(ctx)
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if o, err = offers.Lock(ctx, tx, id, limitVisible(ctx)); err != nil {
			return err
		}
		if err := apply(o.Body, a, clock.OfTenant(ctx, h.clock.Now())); err != nil {
			return err
		}
		if o, err = offers.Update(ctx, tx, o.ID, o.Body, record.Columns{"is_open": isOpen(o.Body.GetStatus())}); err != nil {
			return err
		}
		done, err = actions.Insert(ctx, tx, a, record.Columns{"offer_id": o.ID})
		return err
	})
	return o, done, err
}

// ReadAccepted returns the terms of the accepted offer of an application, or nil without one. Other transactions
// cannot change the offer until tx ends.
func ReadAccepted(ctx context.Context, tx pgx.Tx, applicationID string) (*recruitingv1.HireDetails, error) {
	ids, err := pg.Collect(ctx, tx, pgx.RowTo[string], `SELECT id::text FROM offer WHERE tenant_id = $1 AND application_id = $2 AND is_open`, tenant.Of(ctx), applicationID)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	o, err := offers.Lock(ctx, tx, ids[0], record.Condition{})
	if err != nil || o.Body.GetStatus() != accepted {
		return nil, err
	}
	return o.Body.GetHireDetails(), nil
}

// limitToOffer returns the condition for the actions on an offer.
func limitToOffer(offerID string) record.Condition {
	return record.Condition{SQL: "r.offer_id = @offer", Args: pgx.NamedArgs{"offer": offerID}}
}

// callerRef returns a reference to the person of the caller, or nil without one.
func callerRef(ctx context.Context) *recruitingv1.IdRef {
	if caller := record.Caller(ctx); caller != "" {
		return &recruitingv1.IdRef{Id: caller}
	}
	return nil
}

func show(r *record.Record[*offer]) *offer {
	o := r.Show()
	self := "/v1/recruiting/offers/" + r.ID
	o.Links = []*recruitingv1.Link{
		{Href: self, Rel: "self"},
		{Href: self + "/offer-actions", Rel: "offer-actions"},
		{Href: "/v1/recruiting/applications/" + o.GetApplication().GetId(), Rel: "application"},
	}
	return o
}

func showAction(offerID string, r *record.Record[*action]) *action {
	a := r.Show()
	a.Links = []*recruitingv1.Link{{Href: "/v1/recruiting/offers/" + offerID, Rel: "offer"}}
	return a
}
