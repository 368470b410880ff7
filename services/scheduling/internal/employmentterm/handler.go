package employmentterm

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// maxListed limits the terms in a list without criteria.
const maxListed = 5000

// Handler serves EmploymentTermService. Interceptors ensure that the context has a tenant.
type Handler struct {
	schedulingv1.UnsafeEmploymentTermServiceServer
	pool *pg.Pool
}

// New returns a Handler.
func New(pool *pg.Pool) *Handler { return &Handler{pool: pool} }

// GetEmploymentTerm returns the term with the id in the path.
func (h *Handler) GetEmploymentTerm(ctx context.Context, req *schedulingv1.GetEmploymentTermRequest) (*schedulingv1.EmploymentTerm, error) {
	found, err := get(ctx, h.pool, req.GetId(), false)
	if err != nil {
		return nil, err
	}
	return found.term, rpc.SetVersion(ctx, found.version)
}

// CreateEmploymentTerm stores a new term.
func (h *Handler) CreateEmploymentTerm(ctx context.Context, req *schedulingv1.EmploymentTerm) (*schedulingv1.EmploymentTerm, error) {
	term, err := prepareNew(req)
	if err != nil {
		return nil, err
	}
	return h.change(ctx, false, func(ctx context.Context, tx pgx.Tx) (row, bool, error) {
		term.Id = 0
		written, err := insert(ctx, tx, term)
		return written, term.GetAllowsInheritance(), err
	})
}

// UpdateEmploymentTerm replaces the term with the id in the path. Properties that the request omits
// keep their values.
func (h *Handler) UpdateEmploymentTerm(ctx context.Context, req *schedulingv1.UpdateEmploymentTermRequest) (*schedulingv1.EmploymentTerm, error) {
	return h.change(ctx, false, func(ctx context.Context, tx pgx.Tx) (row, bool, error) {
		old, err := get(ctx, tx, req.GetId(), true)
		if err != nil {
			return row{}, false, err
		}
		if err := old.check(ctx); err != nil {
			return row{}, false, err
		}
		term, err := prepareChange(req.GetId(), old.term, req.GetEmploymentTerm())
		if err != nil {
			return row{}, false, err
		}
		written, err := update(ctx, tx, req.GetId(), term)
		return written, term.GetAllowsInheritance() != old.term.GetAllowsInheritance(), err
	})
}

// DeleteEmploymentTerm deletes the term with the id in the path, unless persons are assigned to it.
func (h *Handler) DeleteEmploymentTerm(ctx context.Context, req *schedulingv1.DeleteEmploymentTermRequest) (*emptypb.Empty, error) {
	_, err := h.change(ctx, true, func(ctx context.Context, tx pgx.Tx) (row, bool, error) {
		old, err := get(ctx, tx, req.GetId(), true)
		if err != nil {
			return row{}, false, err
		}
		if err := old.check(ctx); err != nil {
			return row{}, false, err
		}
		removed, err := remove(ctx, tx, req.GetId())
		return removed, err == nil && removed.term.GetAllowsInheritance(), err
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// change runs one write, and puts its event into the outbox. If the write reports that the term
// starts or stops passing on patterns, it also starts a propagation in the same transaction, and
// names it in the response.
func (h *Handler) change(ctx context.Context, deletes bool, write func(context.Context, pgx.Tx) (written row, inheritanceChanged bool, err error)) (*schedulingv1.EmploymentTerm, error) {
	var written row
	var propagationID int64
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		var inheritanceChanged bool
		if written, inheritanceChanged, err = write(ctx, tx); err != nil {
			return err
		}
		propagationID = 0
		if inheritanceChanged {
			request := propagation.Request{Cause: propagation.CauseInheritance, TermIDs: []int64{written.id}}
			if !deletes {
				request.AllowsInheritance = proto.Bool(written.term.GetAllowsInheritance())
			}
			propagationID, err = propagation.Start(ctx, tx, request)
			if err != nil {
				return err
			}
		}
		return outbox.Append(ctx, tx, written.changedEvent(deletes))
	})
	if err != nil {
		return nil, err
	}
	if err := propagation.SetLocation(ctx, propagationID); err != nil {
		return nil, err
	}
	if deletes {
		return nil, nil
	}
	return written.term, rpc.SetVersion(ctx, written.version)
}

// ListEmploymentTerms returns the term with an id or a name, or all terms in order of their names.
func (h *Handler) ListEmploymentTerms(ctx context.Context, req *schedulingv1.ListEmploymentTermsRequest) (*schedulingv1.EmploymentTermList, error) {
	found, err := h.findListed(ctx, req)
	if err != nil {
		return nil, err
	}
	out := &schedulingv1.EmploymentTermList{EmploymentTerms: make([]*schedulingv1.EmploymentTerm, 0, len(found))}
	for _, r := range found {
		if req.AllDetails != nil && !req.GetAllDetails() {
			omitDetails(r.term)
		}
		out.EmploymentTerms = append(out.EmploymentTerms, r.term)
	}
	return out, nil
}

func (h *Handler) findListed(ctx context.Context, req *schedulingv1.ListEmploymentTermsRequest) ([]row, error) {
	switch {
	case req.Id != nil:
		found, err := findByIDs(ctx, h.pool, []int64{req.GetId()})
		if err != nil {
			return nil, err
		}
		r, ok := found[req.GetId()]
		if !ok {
			return nil, fault.Invalid(CodeUnknownID, fmt.Sprintf("There is no employment term with id %d.", req.GetId()))
		}
		return []row{r}, nil
	case req.GetQualifier() != "":
		found, err := findByNames(ctx, h.pool, []string{req.GetQualifier()})
		if err != nil {
			return nil, err
		}
		r, ok := found[req.GetQualifier()]
		if !ok {
			return nil, unknownName(req.GetQualifier())
		}
		return []row{r}, nil
	}
	found, err := list(ctx, h.pool, maxListed+1)
	if err != nil {
		return nil, err
	}
	if len(found) > maxListed {
		return nil, fault.New(fault.CodeItemLimit, http.StatusRequestEntityTooLarge,
			fmt.Sprintf("There are more than %d employment terms. Ask for some of them by multi_read.", maxListed))
	}
	return found, nil
}

func unknownName(name string) *fault.Error {
	return fault.Invalid(CodeUnknownName, fmt.Sprintf("There is no employment term with the name %q.", name))
}
