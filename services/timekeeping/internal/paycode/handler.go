package paycode

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/namedstore"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Store keeps pay codes.
type Store = namedstore.Store[*timekeepingv1.PayCode]

// NewStore returns the store of pay codes.
func NewStore() *Store {
	return namedstore.NewStore(namedstore.Kind[*timekeepingv1.PayCode]{
		Codes: Codes(),
		What:  "pay code",
		Table: "pay_code",
	})
}

// Handler serves PayCodeService.
type Handler struct {
	timekeepingv1.UnsafePayCodeServiceServer
	resource namedstore.Resource[*timekeepingv1.PayCode]
	terms    Terms
}

var _ timekeepingv1.PayCodeServiceServer = (*Handler)(nil)

// Using returns how a message calls something that refers to a pay code, or "" when
// nothing of its kind does.
type Using func(ctx context.Context, tx pgx.Tx, tenantID int64, p *timekeepingv1.PayCode) (string, error)

// New returns a Handler that keeps pay codes in the database of the pool. The last
// arguments know what else refers to a pay code.
func New(pool *pg.Pool, terms Terms, used ...Using) *Handler {
	return &Handler{terms: terms, resource: namedstore.Resource[*timekeepingv1.PayCode]{
		Store: NewStore(), Pool: pool, Prepare: prepare,
		Unused: func(ctx context.Context, tx pgx.Tx, tenantID int64, p *timekeepingv1.PayCode) error {
			for _, using := range used {
				by, err := using(ctx, tx, tenantID, p)
				if err != nil {
					return err
				}
				if by != "" {
					return fault.Invalid(CodeInUse, fmt.Sprintf("%s refers to the pay code %q.", by, p.GetName()))
				}
			}
			return nil
		},
	}}
}

// ListPayCodes returns all pay codes by name, or the one that is asked for.
func (h *Handler) ListPayCodes(ctx context.Context, req *timekeepingv1.ListPayCodesRequest) (*timekeepingv1.PayCodeList, error) {
	list, err := h.resource.List(ctx, req.Id, req.Qualifier)
	return &timekeepingv1.PayCodeList{Items: list}, err
}

// GetPayCode returns one pay code, or 404.
func (h *Handler) GetPayCode(ctx context.Context, req *timekeepingv1.GetPayCodeRequest) (*timekeepingv1.PayCode, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreatePayCode stores a new pay code.
func (h *Handler) CreatePayCode(ctx context.Context, req *timekeepingv1.PayCode) (*timekeepingv1.PayCode, error) {
	return h.resource.Create(ctx, req)
}

// UpdatePayCode replaces a pay code.
func (h *Handler) UpdatePayCode(ctx context.Context, req *timekeepingv1.UpdatePayCodeRequest) (*timekeepingv1.PayCode, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeletePayCode deletes a pay code that nothing refers to.
func (h *Handler) DeletePayCode(ctx context.Context, req *timekeepingv1.DeletePayCodeRequest) (*emptypb.Empty, error) {
	p, err := h.resource.Get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := CheckNoTerm(ctx, h.terms, schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_CODE, "pay code", p.GetId(), p.GetName()); err != nil {
		return nil, err
	}
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
