package backgroundcheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Handler serves BackgroundCheckService.
type Handler struct {
	recruitingv1.UnsafeBackgroundCheckServiceServer

	pool    *pg.Pool
	persons *record.Persons
}

var _ recruitingv1.BackgroundCheckServiceServer = (*Handler)(nil)

// New returns a Handler. Commons is a connection to the service of persons.
func New(pool *pg.Pool, commons grpc.ClientConnInterface) *Handler {
	return &Handler{pool: pool, persons: record.NewPersons(commons)}
}

// under returns the condition for the rows of a candidate.
func under(candidateID string) record.Condition {
	return record.Condition{SQL: "r.candidate_id = @candidate", Args: pgx.NamedArgs{"candidate": candidateID}}
}

func visible(ctx context.Context) record.Condition {
	return candidate.Visible(ctx, application.VisibleCandidates)
}

// ListBackgroundChecks returns the background checks of a candidate.
func (h *Handler) ListBackgroundChecks(ctx context.Context, req *recruitingv1.ListBackgroundChecksRequest) (*recruitingv1.BackgroundCheckList, error) {
	c, err := candidate.Candidates.Get(ctx, h.pool, req.GetId(), visible(ctx))
	if err != nil {
		return nil, err
	}
	items, err := list(ctx, h.pool, c.ID)
	return &recruitingv1.BackgroundCheckList{Items: items}, err
}

// GetBackgroundCheck returns one background check of a candidate, or 404.
func (h *Handler) GetBackgroundCheck(ctx context.Context, req *recruitingv1.GetBackgroundCheckRequest) (*backgroundCheck, error) {
	c, err := candidate.Candidates.Get(ctx, h.pool, req.GetId(), visible(ctx))
	if err != nil {
		return nil, err
	}
	r, err := checks.Get(ctx, h.pool, req.GetBackgroundCheckId(), under(c.ID))
	if err != nil {
		return nil, err
	}
	return show(c.ID, r), nil
}

// CreateBackgroundCheck adds a background check to a candidate.
func (h *Handler) CreateBackgroundCheck(ctx context.Context, req *recruitingv1.CreateBackgroundCheckRequest) (*backgroundCheck, error) {
	return h.write(ctx, req.GetId(), req.GetBody(), func(ctx context.Context, tx pgx.Tx, candidateID string, c *backgroundCheck) (*record.Record[*backgroundCheck], error) {
		if err := fulfillOrder(ctx, tx, c.GetApplication().GetId()); err != nil {
			return nil, err
		}
		return checks.Insert(ctx, tx, c, record.Columns{
			"candidate_id": candidateID, "application_id": c.GetApplication().GetId(), "order_number": strings.ToLower(c.GetOrderNumber()),
		})
	})
}

// UpdateBackgroundCheck replaces a background check of a candidate.
func (h *Handler) UpdateBackgroundCheck(ctx context.Context, req *recruitingv1.UpdateBackgroundCheckRequest) (*backgroundCheck, error) {
	return h.write(ctx, req.GetId(), req.GetBody(), func(ctx context.Context, tx pgx.Tx, candidateID string, c *backgroundCheck) (*record.Record[*backgroundCheck], error) {
		r, err := checks.Lock(ctx, tx, req.GetBackgroundCheckId(), under(candidateID))
		if err != nil {
			return nil, err
		}
		if r.Body.GetApplication().GetId() != c.GetApplication().GetId() {
			return nil, fault.Invalid(CodeInvalid, "application.id must be the application of the background check.").WithMembers("application.id")
		}
		return checks.Update(ctx, tx, r.ID, c, record.Columns{"order_number": strings.ToLower(c.GetOrderNumber())})
	})
}

// write checks a background check, locks its candidate, stores it, and requests its results while the
// status is open.
func (h *Handler) write(ctx context.Context, candidateID string, c *backgroundCheck,
	store func(ctx context.Context, tx pgx.Tx, candidateID string, c *backgroundCheck) (*record.Record[*backgroundCheck], error),
) (out *backgroundCheck, err error) {
	if c == nil {
		c = &backgroundCheck{}
	}
	if err := prepare(c); err != nil {
		return nil, err
	}
	if _, err := h.persons.Resolve(ctx, map[string]string{"author.id": c.GetAuthor().GetId()}); err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		owner, err := candidate.Candidates.Lock(ctx, tx, candidateID, visible(ctx))
		if err != nil {
			return err
		}
		a, err := application.Applications.Refer(ctx, tx, "application.id", c.GetApplication().GetId(), application.Visible(ctx).And(under(owner.ID)))
		if err != nil {
			return err
		}
		c.Application.Id = a.ID
		r, err := store(ctx, tx, owner.ID, c)
		if err != nil {
			return err
		}
		if err := requestResults(ctx, tx, a, r, slices.Contains(open, c.GetStatus())); err != nil {
			return err
		}
		out = show(owner.ID, r)
		return nil
	})
	if pgerr.IsUnique(err, "background_check_order") {
		err = fault.Conflict(CodeOrderTaken, fmt.Sprintf("Another background check for the application has the order number %q.", c.GetOrderNumber())).WithMembers("order_number")
	}
	return out, err
}
