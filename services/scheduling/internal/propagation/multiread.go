package propagation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const defaultPage = 100

// A condition without values matches all rows. The newest propagations come first, by id. Ids never
// change, so that pages stay stable while propagations progress.
const selectPropagations = `
SELECT ` + columns + ` FROM propagation p
WHERE tenant_id = $1 AND id < $2
    AND ($3::bigint[] IS NULL OR id = ANY($3))
    AND ($4::text[] IS NULL OR state = ANY($4))
    AND ($5::text[] IS NULL OR cause = ANY($5))
    AND ($6::bigint[] IS NULL OR employment_term_ids && $6)
    AND ($7::timestamptz IS NULL OR accepted_at >= $7)
    AND ($8::timestamptz IS NULL OR accepted_at < $8)
    AND ($9::text[] IS NULL OR request_ids && $9)
ORDER BY id DESC LIMIT $10`

const selectTermIDs = `
SELECT id, name FROM employment_term
WHERE tenant_id = $1 AND (id = ANY($2) OR lower(name) = ANY($3))`

// ListPropagations returns the propagations of one request of the caller's tenant.
func (h *Handler) ListPropagations(ctx context.Context, req *schedulingv1.ListPropagationsRequest) (*schedulingv1.PropagationPage, error) {
	if !obs.ValidRequestID(req.GetRequestId()) {
		return nil, invalid("request_id must be the X-Request-Id of a response.")
	}
	return h.MultiReadPropagations(ctx, &schedulingv1.MultiReadPropagationsRequest{
		Where: &schedulingv1.PropagationFilter{RequestIds: []string{req.GetRequestId()}},
	})
}

// MultiReadPropagations returns a page of the propagations of the caller's tenant.
func (h *Handler) MultiReadPropagations(ctx context.Context, req *schedulingv1.MultiReadPropagationsRequest) (*schedulingv1.PropagationPage, error) {
	f, err := parseFilter(req)
	if err != nil {
		return nil, err
	}
	terms, err := h.termIDs(ctx, req.GetWhere().GetEmploymentTerms())
	if err != nil {
		return nil, err
	}
	found, err := pg.Collect(ctx, h.pool, scanPropagation, selectPropagations, tenant.Of(ctx), f.before, f.ids, f.states, f.causes, terms, f.from, f.to, f.requests, f.count+1)
	if err != nil {
		return nil, fmt.Errorf("propagation: read: %w", err)
	}
	page := &schedulingv1.PropagationPage{}
	if len(found) > f.count {
		found = found[:f.count]
		page.Next = &found[f.count-1].Id
	}
	for _, add := range []func(context.Context, []propagationRow) error{h.addFailures, h.addNames, h.addFindings} {
		if err := add(ctx, found); err != nil {
			return nil, err
		}
	}
	page.Propagations = &schedulingv1.PropagationList{}
	for _, one := range found {
		page.Propagations.Propagations = append(page.Propagations.Propagations, one.Propagation)
	}
	return page, nil
}

// filter selects propagations. A nil list matches all.
type filter struct {
	ids                      []int64
	states, causes, requests []string
	from, to                 *time.Time
	before                   int64
	count                    int
}

func parseFilter(req *schedulingv1.MultiReadPropagationsRequest) (f filter, err error) {
	where := req.GetWhere()
	f = filter{ids: where.GetIds(), requests: where.GetRequestIds(), before: math.MaxInt64, count: defaultPage}
	if req.Before != nil && req.After != nil && req.GetBefore() != req.GetAfter() {
		return f, invalid("before and after mean the same. Send one of them.")
	}
	if cursor := cmp.Or(req.After, req.Before); cursor != nil {
		f.before = *cursor
	}
	if req.Count != nil {
		f.count = int(req.GetCount())
	}
	if f.states, err = checkEnum("where.states", where.GetStates(), StateAccepted, StateRunning, StatePaused, StateFinished, StateFailed); err != nil {
		return f, err
	}
	if f.causes, err = checkEnum("where.causes", where.GetCauses(), string(CausePattern), string(CauseInheritance), string(CauseMembership), string(CauseUnlocking), string(CauseUndo)); err != nil {
		return f, err
	}
	if f.from, err = moment(where.GetStartDateTime()); err != nil {
		return f, err
	}
	if f.to, err = moment(where.GetEndDateTime()); err != nil {
		return f, err
	}
	if f.from != nil && f.to != nil && !f.from.Before(*f.to) {
		return f, invalid("where.endDateTime must be after where.startDateTime.")
	}
	return f, nil
}

// checkEnum returns the values in upper case, or an error if one is not allowed.
func checkEnum(path string, values []string, allowed ...string) (upper []string, err error) {
	for i, value := range values {
		name := strings.ToUpper(value)
		if !slices.Contains(allowed, name) {
			return nil, invalid(suggest.NotOneOf(fmt.Sprintf("%s[%d]", path, i), value, allowed...))
		}
		upper = append(upper, name)
	}
	return upper, nil
}

// moment parses a date-time in UTC. The gateway has checked the form.
func moment(text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse("2006-01-02T15:04:05.999999999", text)
	if err != nil {
		return nil, fault.Invalid(fault.CodeDate, fmt.Sprintf("%.40q is not a date and time. Use the form YYYY-MM-DDTHH:MM:SS.", text))
	}
	return &at, nil
}

// termIDs returns the ids of the listed terms, or nil if there is no list. An unknown term is an
// error.
func (h *Handler) termIDs(ctx context.Context, list *commonv1.RefList) ([]int64, error) {
	requested := append(slices.Clone(list.GetRefs()), refs(list)...)
	if len(requested) == 0 {
		return nil, nil
	}
	var ids []int64
	var names []string
	for _, ref := range requested {
		if ref.Id != nil {
			ids = append(ids, ref.GetId())
		} else {
			names = append(names, strings.ToLower(ref.GetQualifier()))
		}
	}
	byName, found := map[string]bool{}, []int64{}
	var id int64
	var name string
	if err := pg.ForEach(ctx, h.pool, []any{&id, &name}, func() error {
		found, byName[strings.ToLower(name)] = append(found, id), true
		return nil
	}, selectTermIDs, tenant.Of(ctx), ids, names); err != nil {
		return nil, fmt.Errorf("propagation: find terms: %w", err)
	}
	for _, ref := range requested {
		if ref.Id != nil && !slices.Contains(found, ref.GetId()) || ref.Id == nil && !byName[strings.ToLower(ref.GetQualifier())] {
			return nil, invalid(fmt.Sprintf("where.employmentTerms: there is no employment term %s.", cmp.Or(ref.GetQualifier(), fmt.Sprint(ref.GetId()))))
		}
	}
	return found, nil
}

// refs converts the ids and qualifiers of a list to references.
func refs(list *commonv1.RefList) (out []*commonv1.Ref) {
	for _, id := range list.GetIds() {
		out = append(out, &commonv1.Ref{Id: &id})
	}
	for _, name := range list.GetQualifiers() {
		out = append(out, &commonv1.Ref{Qualifier: &name})
	}
	return out
}

func invalid(message string) error { return fault.Invalid(fault.CodeBadRequest, message) }
