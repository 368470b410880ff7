package accrual

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/namedstore"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
)

// CodeHandler serves AccrualCodeService.
type CodeHandler struct {
	timekeepingv1.UnsafeAccrualCodeServiceServer
	resource namedstore.Resource[*timekeepingv1.AccrualCode]
}

var _ timekeepingv1.AccrualCodeServiceServer = (*CodeHandler)(nil)

// NewCodes returns a CodeHandler that keeps accrual codes in the database of the pool.
func NewCodes(pool *pg.Pool) *CodeHandler {
	h := &CodeHandler{}
	h.resource = namedstore.Resource[*timekeepingv1.AccrualCode]{
		Store: accrualCodes(), Pool: pool, Prepare: prepareCode, Within: withinCode, Show: h.setNames, Unused: codeUnused,
	}
	return h
}

// withinCode writes the pay codes of an accrual code by id and name, and keeps them from
// being deleted.
func withinCode(ctx context.Context, tx pgx.Tx, tenantID, _ int64, c *timekeepingv1.AccrualCode) error {
	if len(c.GetPayCodes()) == 0 {
		return nil // Read returns all pay codes for no refs.
	}
	found, err := paycode.NewStore().Read(ctx, tx, tenantID, "payCodes", c.GetPayCodes())
	if err != nil {
		return err
	}
	seen := map[int64]bool{}
	for i, p := range found {
		path := fmt.Sprintf("payCodes[%d]", i)
		switch {
		case seen[p.GetId()]:
			return invalid("%s repeats %q", path, p.GetName())
		case p.GetMoney():
			return invalid("%s must be of hours or days: the pay code %q is of money", path, p.GetName())
		}
		seen[p.GetId()] = true
		if err := lockReferenced(ctx, tx, tenantID, "pay_code", path, c.GetPayCodes()[i], p); err != nil {
			return err
		}
	}
	return nil
}

func codeUnused(ctx context.Context, tx pgx.Tx, tenantID int64, c *timekeepingv1.AccrualCode) error {
	profiles, err := accrualProfiles().All(ctx, tx, tenantID)
	if err != nil {
		return err
	}
	for _, p := range profiles {
		for _, policy := range p.GetAccrualPolicies() {
			if policy.GetAccrualCode().GetId() == c.GetId() {
				return fault.Invalid(CodeInUse, fmt.Sprintf("The accrual profile %q refers to the accrual code %q.", p.GetName(), c.GetName()))
			}
		}
	}
	return nil
}

// UsingPayCode returns how a message calls an accrual code that a pay code takes from, or
// "" when none does.
func UsingPayCode(ctx context.Context, tx pgx.Tx, tenantID int64, p *timekeepingv1.PayCode) (string, error) {
	return paycode.UserIn(ctx, tx, tenantID, accrualCodes(), "accrual code", (*timekeepingv1.AccrualCode).GetPayCodes, p)
}

// TakingPayCodes returns the pay codes that accrual codes of a tenant take from.
func TakingPayCodes(ctx context.Context, tx pgx.Tx, tenantID int64) ([]*commonv1.Ref, error) {
	list, err := accrualCodes().All(ctx, tx, tenantID)
	var refs []*commonv1.Ref
	for _, c := range list {
		refs = append(refs, c.GetPayCodes()...)
	}
	return refs, err
}

func (h *CodeHandler) setNames(ctx context.Context, list ...*timekeepingv1.AccrualCode) error {
	var refs []*commonv1.Ref
	for _, c := range list {
		refs = append(refs, c.GetPayCodes()...)
	}
	return paycode.NewStore().SetNames(ctx, h.resource.Pool, refs...)
}

// ListAccrualCodes returns all accrual codes by name, or the one that is asked for.
func (h *CodeHandler) ListAccrualCodes(ctx context.Context, req *timekeepingv1.ListAccrualCodesRequest) (*timekeepingv1.AccrualCodeList, error) {
	list, err := h.resource.List(ctx, req.Id, req.Qualifier)
	return &timekeepingv1.AccrualCodeList{Items: list}, err
}

// GetAccrualCode returns one accrual code, or 404.
func (h *CodeHandler) GetAccrualCode(ctx context.Context, req *timekeepingv1.GetAccrualCodeRequest) (*timekeepingv1.AccrualCode, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateAccrualCode stores a new accrual code.
func (h *CodeHandler) CreateAccrualCode(ctx context.Context, req *timekeepingv1.AccrualCode) (*timekeepingv1.AccrualCode, error) {
	return h.resource.Create(ctx, req)
}

// UpdateAccrualCode replaces an accrual code.
func (h *CodeHandler) UpdateAccrualCode(ctx context.Context, req *timekeepingv1.UpdateAccrualCodeRequest) (*timekeepingv1.AccrualCode, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteAccrualCode deletes an accrual code that no accrual profile refers to.
func (h *CodeHandler) DeleteAccrualCode(ctx context.Context, req *timekeepingv1.DeleteAccrualCodeRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
