package backgroundcheck

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// pageSize is the default number of requests in a list.
const pageSize = 100

// ListBackgroundCheckOrderRequests returns the pending order requests after a token.
func (h *Handler) ListBackgroundCheckOrderRequests(ctx context.Context, req *recruitingv1.ListBackgroundCheckRequestsRequest) (*recruitingv1.BackgroundCheckRequestList, error) {
	return h.listRequests(ctx, req, "r.background_check_id IS NULL")
}

// ListBackgroundCheckResultsRequests returns the pending requests for results after a token.
func (h *Handler) ListBackgroundCheckResultsRequests(ctx context.Context, req *recruitingv1.ListBackgroundCheckRequestsRequest) (*recruitingv1.BackgroundCheckRequestList, error) {
	return h.listRequests(ctx, req, "r.background_check_id IS NOT NULL")
}

// listRequests returns the pending requests of a kind. Changes commit in the order of their times, so a
// vendor that continues after the last token misses no request that commits late.
func (h *Handler) listRequests(ctx context.Context, req *recruitingv1.ListBackgroundCheckRequestsRequest, kind string) (*recruitingv1.BackgroundCheckRequestList, error) {
	var after int64
	if req.GetToken() != "" {
		var ok bool
		if after, ok = record.ParseCursor(req.GetToken()); !ok {
			return nil, fault.Invalid(CodeTokenUnknown, "token must be the token of a request.").WithMembers("token")
		}
	}
	size := pageSize
	if req.Limit != nil {
		size = int(req.GetLimit())
	}
	filter := record.Condition{SQL: kind + " AND r.pending AND r.changed > @after", Args: pgx.NamedArgs{"after": after}}
	list, err := requests.All(ctx, h.pool, filter.And(opportunity.VisibleThrough(ctx, "opportunity_id")), fmt.Sprintf("ORDER BY r.changed LIMIT %d", size))
	out := &recruitingv1.BackgroundCheckRequestList{}
	for _, r := range list {
		out.Items = append(out.Items, showRequest(r))
	}
	return out, err
}

// CreateBackgroundCheckOrderRequest requests an order for an application.
func (h *Handler) CreateBackgroundCheckOrderRequest(ctx context.Context, req *request) (out *request, err error) {
	if req.GetApplication().GetId() == "" {
		return nil, missing("application.id")
	}
	q := &request{Package: req.GetPackage()}
	if caller := record.Caller(ctx); caller != "" {
		q.Author = &recruitingv1.IdRef{Id: caller}
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		a, err := application.Applications.Refer(ctx, tx, "application.id", req.GetApplication().GetId(), application.Visible(ctx))
		if err != nil {
			return err
		}
		r, err := insertRequest(ctx, tx, a, q, nil)
		if err != nil {
			return err
		}
		out = showRequest(r)
		return nil
	})
	if pgerr.IsUnique(err, "background_check_request_order") {
		err = fault.Conflict(CodeRequested, "The application has a pending order request already.").WithMembers("application.id")
	}
	return out, err
}

// insertRequest stores a request for an application. The background check is nil for an order.
func insertRequest(ctx context.Context, tx pgx.Tx, a *record.Record[*recruitingv1.Application], q *request, backgroundCheckID *string) (*record.Record[*request], error) {
	q.Application = &recruitingv1.IdRef{Id: a.ID}
	q.Candidate = &recruitingv1.IdRef{Id: a.Body.GetCandidate().GetId()}
	q.Opportunity = &recruitingv1.IdRef{Id: a.Body.GetOpportunity().GetId()}
	return requests.Insert(ctx, tx, q, record.Columns{
		"application_id": a.ID, "opportunity_id": q.GetOpportunity().GetId(), "background_check_id": backgroundCheckID,
	})
}

// fulfillOrder ends the pending order request of an application.
func fulfillOrder(ctx context.Context, tx pgx.Tx, applicationID string) error {
	_, err := tx.Exec(ctx, `UPDATE background_check_request SET pending = false
		WHERE tenant_id = $1 AND application_id = $2 AND background_check_id IS NULL AND pending`, tenant.Of(ctx), applicationID)
	if err != nil {
		return fmt.Errorf("end an order request: %w", err)
	}
	return nil
}

// requestResults makes the request for the results of a background check pending or not. A request that
// becomes pending moves to the end of the list.
func requestResults(ctx context.Context, tx pgx.Tx, a *record.Record[*recruitingv1.Application], r *record.Record[*backgroundCheck], pending bool) error {
	list, err := requests.All(ctx, tx, record.Condition{SQL: "r.background_check_id = @check", Args: pgx.NamedArgs{"check": r.ID}}, "")
	switch {
	case err != nil:
		return err
	case len(list) == 0 && !pending:
		return nil
	case len(list) == 0:
		q := &request{BackgroundCheck: &recruitingv1.IdRef{Id: r.ID}, OrderNumber: r.Body.GetOrderNumber()}
		_, err = insertRequest(ctx, tx, a, q, &r.ID)
		return err
	}
	q := list[0]
	changed, err := tx.Exec(ctx, `UPDATE background_check_request SET pending = $3 WHERE tenant_id = $1 AND id = $2 AND pending <> $3`, tenant.Of(ctx), q.ID, pending)
	if err != nil {
		return fmt.Errorf("change a request for results: %w", err)
	}
	if !pending || changed.RowsAffected() == 0 && q.Body.GetOrderNumber() == r.Body.GetOrderNumber() {
		return nil
	}
	q.Body.OrderNumber = r.Body.GetOrderNumber()
	_, err = requests.Update(ctx, tx, q.ID, q.Body, nil)
	return err
}
