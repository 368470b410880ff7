package employmentterm

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// maxRead limits the terms in one request.
var readLimit = policy.FindLimit[*schedulingv1.EmploymentTermRefList]("employment terms")

// termRef is one requested term.
type termRef struct {
	id           int64
	name         string
	persistentID string
}

// MultiReadEmploymentTerms returns the requested terms, in the order of the request. An unknown
// name fails the request; other unknown terms fail independently.
func (h *Handler) MultiReadEmploymentTerms(ctx context.Context, req *schedulingv1.MultiReadEmploymentTermsRequest) (*schedulingv1.EmploymentTermList, error) {
	where := req.GetWhere()
	list, err := requestedTerms(where.GetEmploymentTerms())
	if err != nil {
		return nil, err
	}
	window, err := versionWindow(where)
	if err != nil {
		return nil, err
	}
	find, err := h.finder(ctx, list)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonv1.Ref, *schedulingv1.EmploymentTerm]{}
	for _, w := range list {
		r, err := find(w)
		if fault.HasCode(err, CodeUnknownName) {
			return nil, err
		}
		if err != nil {
			out.Fail(w.ref(), fault.FromError(err))
			continue
		}
		filterVersions(r.term, window)
		if where.AllDetails != nil && !where.GetAllDetails() {
			omitDetails(r.term)
		}
		out.Succeed(w.ref(), r.term)
	}
	return response(ctx, out)
}

// response returns the outcome with the common error code of employment terms.
func response(ctx context.Context, out *bulk.Outcome[*commonv1.Ref, *schedulingv1.EmploymentTerm]) (*schedulingv1.EmploymentTermList, error) {
	done, failure, err := rpc.BulkResultWithCode(ctx, out, CodeSome)
	if fault.HasCode(err, fault.CodeBulkFailed) {
		all := fault.FromError(err)
		return nil, fault.Invalid(CodeSome, all.Message).WithDetails(all.Details)
	}
	return &schedulingv1.EmploymentTermList{EmploymentTerms: done, Failure: failure}, err
}

func (w termRef) ref() *commonv1.Ref {
	switch {
	case w.id != 0:
		return &commonv1.Ref{Id: &w.id}
	case w.name != "":
		return &commonv1.Ref{Qualifier: &w.name}
	}
	return &commonv1.Ref{Qualifier: &w.persistentID}
}

// requestedTerms parses the list of terms, which must use exactly one form.
func requestedTerms(list *schedulingv1.EmploymentTermRefList) ([]termRef, error) {
	var out []termRef
	for _, n := range []int{len(list.GetIds()), len(list.GetQualifiers()), len(list.GetPersistentIds()), len(list.GetRefs())} {
		if err := readLimit.Check(n); err != nil {
			return nil, err
		}
	}
	if err := fault.OneOf(CodeNothing, CodeSeveral, "The list of employment terms", "ids, qualifiers, persistentIds and refs",
		len(list.GetIds()) > 0, len(list.GetQualifiers()) > 0, len(list.GetPersistentIds()) > 0, len(list.GetRefs()) > 0); err != nil {
		return nil, err
	}
	for _, id := range list.GetIds() {
		out = append(out, termRef{id: id})
	}
	for _, name := range list.GetQualifiers() {
		out = append(out, termRef{name: name})
	}
	for _, id := range list.GetPersistentIds() {
		out = append(out, termRef{persistentID: id})
	}
	for _, ref := range list.GetRefs() {
		switch {
		case ref.Id != nil:
			out = append(out, termRef{id: ref.GetId()})
		case ref.GetQualifier() != "":
			out = append(out, termRef{name: ref.GetQualifier()})
		default:
			return nil, fault.Invalid(CodeNothing, "A ref needs an id or a qualifier.")
		}
	}
	return out, nil
}

// versionWindow returns the days for which versions are shown; all days if the request has no
// dates.
func versionWindow(where *schedulingv1.EmploymentTermWhere) (civil.Range, error) {
	window := civil.Range{From: civil.Beginning, To: civil.Forever}
	if text := where.GetStartDate(); text != "" {
		day, err := civil.ParseDate(text)
		if err != nil {
			return window, fault.Invalid(fault.CodeDate, "startDate: "+err.Error())
		}
		window.From = day.Clamp()
	}
	if text := where.GetEndDate(); text != "" {
		day, err := civil.ParseDate(text)
		if err != nil {
			return window, fault.Invalid(fault.CodeDate, "endDate: "+err.Error())
		}
		window.To = day.Clamp().AddDays(1)
	}
	if window.Empty() {
		return window, fault.Invalid(fault.CodeInput, "endDate is before startDate.")
	}
	return window, nil
}

// finder loads the terms of a list, and returns a function that finds each of them.
func (h *Handler) finder(ctx context.Context, list []termRef) (func(termRef) (row, error), error) {
	var ids []int64
	var names, persistent []string
	for _, w := range list {
		switch {
		case w.name != "":
			names = append(names, w.name)
		case w.persistentID != "":
			persistent = append(persistent, w.persistentID)
		default:
			ids = append(ids, w.id)
		}
	}
	var idRows map[int64]row
	var nameRows, persistentRows map[string]row
	load := func(ctx context.Context, db pg.Querier) (err error) {
		if len(ids) > 0 {
			idRows, err = findByIDs(ctx, db, ids)
		}
		if err == nil && len(names) > 0 {
			nameRows, err = findByNames(ctx, db, names)
		}
		if err == nil && len(persistent) > 0 {
			persistentRows, err = findByPersistentIDs(ctx, db, persistent)
		}
		return err
	}
	var err error
	if len(ids) > 0 && len(names) > 0 { // Only references can mix both forms.
		err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error { return load(ctx, tx) })
	} else {
		err = load(ctx, h.pool)
	}
	if err != nil {
		return nil, err
	}
	return func(w termRef) (row, error) {
		switch {
		case w.name != "":
			if r, ok := nameRows[w.name]; ok {
				return r, nil
			}
			return row{}, unknownName(w.name)
		case w.persistentID != "":
			if r, ok := persistentRows[w.persistentID]; ok {
				return r, nil
			}
			return row{}, fault.Invalid(CodeItemUnknownPersistentID, fmt.Sprintf("There is no employment term with the persistentId %q.", w.persistentID))
		}
		if r, ok := idRows[w.id]; ok {
			return r, nil
		}
		return row{}, fault.Invalid(CodeItemUnknownID, fmt.Sprintf("There is no employment term with id %d.", w.id))
	}, nil
}
