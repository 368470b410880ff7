package employmenttermschedulepattern

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

const what = "schedule pattern assignment"

// allDays is the calendar of the product.
var allDays = civil.Range{From: civil.Beginning, To: civil.Forever}

// ApplyUpdateEmploymentTermSchedulePatterns changes or removes assignments, all
// or, with partial success, those that can be. It starts one propagation.
func (h *Handler) ApplyUpdateEmploymentTermSchedulePatterns(ctx context.Context, req *schedulingv1.ApplyUpdateGroupSchedulePatternsRequest) (*schedulingv1.GroupSchedulePatternResults, error) {
	body, partial := req.GetBody(), req.GetPartialSuccess()
	u, err := readUpdate(body)
	if err != nil {
		return nil, err
	}
	withInput := body.GetOptions().GetDetailedPartialSuccess() || body.GetFormatForTransactionAssistant()
	if u.refs != nil {
		outcome, propagationID, err := h.removeByTerms(ctx, u, partial)
		if err != nil {
			return nil, err
		}
		if err := h.announce(ctx, propagationID); err != nil {
			return nil, err
		}
		return answer(ctx, outcome, withInput, joined)
	}
	outcome, propagationID, err := h.update(ctx, u, partial)
	if err != nil {
		return nil, err
	}
	if err := h.announce(ctx, propagationID); err != nil {
		return nil, err
	}
	return answer(ctx, outcome, withInput, asTheyAre)
}

// DeleteEmploymentTermSchedulePattern removes an assignment, or returns 404.
func (h *Handler) DeleteEmploymentTermSchedulePattern(ctx context.Context, req *schedulingv1.DeleteEmploymentTermSchedulePatternRequest) (*emptypb.Empty, error) {
	u := &update{
		ids:   []int64{req.GetId()},
		apply: func(a assignment, _ *replacement) (edit, error) { return without(a, a.days), nil },
	}
	_, propagationID, err := h.update(ctx, u, false)
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, h.announce(ctx, propagationID)
}

// outcome is that of a request that names assignments by id.
type outcome = bulk.Outcome[*wrapperspb.Int64Value, result]

// update edits the assignments that u names.
func (h *Handler) update(ctx context.Context, u *update, partial bool) (*outcome, int64, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, 0, err
	}
	r, err := h.replacement(ctx, u)
	if err != nil {
		return nil, 0, err
	}
	terms, err := termsOf(ctx, h.deps.Pool, tenantID, u.ids)
	if err != nil {
		return nil, 0, err
	}
	expected := h.deps.Members.Expected(ctx, terms)
	var out *outcome
	var propagationID int64
	err = pg.InTx(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		now, edits, errs, err := h.edit(ctx, tx, tenantID, u, r)
		if err != nil {
			return err
		}
		if !partial {
			for _, err := range errs {
				if err != nil {
					return err
				}
			}
		}
		var described results
		if described, propagationID, err = h.finish(ctx, tx, tenantID, now, edits, expected); err != nil {
			return err
		}
		out = &outcome{}
		for i, id := range u.ids {
			if errs[i] != nil {
				out.Fail(wrapperspb.Int64(id), fault.FromError(errs[i]))
				continue
			}
			out.Succeed(wrapperspb.Int64(id), described[0])
			described = described[1:]
		}
		return nil
	})
	return out, propagationID, err
}

// bringing is what a request that replaces patterns brings.
type bringing struct {
	replacement
	definition *patterndefinition.Definition
	// termID is the term that the request names, or 0.
	termID int64
}

// replacement finds the pattern and the term that u brings; nil when it brings
// none.
func (h *Handler) replacement(ctx context.Context, u *update) (*bringing, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	if u.given == nil {
		return nil, nil
	}
	b := &bringing{}
	if err := u.readDates(&b.replacement); err != nil {
		return nil, err
	}
	if ref := u.given.GetGroupRef(); patterndefinition.Named(ref) {
		terms, _, err := h.findTerms(ctx, []*commonv1.Ref{ref}, false)
		if err != nil {
			return nil, err
		}
		b.termID = terms[0].ID
	}
	asked := []patterndefinition.Asked{{Path: u.path + ".schedulePattern", Pattern: u.given.GetSchedulePattern()}}
	found, err := h.deps.Definitions.Resolve(ctx, h.deps.Pool, tenantID, asked)
	if err != nil {
		return nil, err
	}
	if found[0].Err != nil {
		return nil, found[0].Err
	}
	b.definition = found[0].Definition
	b.dayCount, b.entriesPerDay = b.definition.DayCount, b.definition.EntriesPerDay
	if b.definition.Pattern.GetStartDate() != "" {
		anchor, err := anchorOf(b.definition.Pattern, 0)
		if err != nil {
			return nil, err
		}
		b.anchor = &anchor
	}
	return b, nil
}

// readDates reads the dates that a given assignment has.
func (u *update) readDates(r *replacement) error {
	r.offset = u.given.GetStartDateOffset()
	if text := u.given.GetStartDate(); text != "" {
		start, err := parseDate(u.path+".startDate", text)
		if err != nil {
			return err
		}
		r.start = &start
	}
	if text := u.given.GetEndDate(); text != "" {
		to, err := parseEnd(u.path+".endDate", text)
		if err != nil {
			return err
		}
		r.to = &to
	}
	return nil
}

// edit makes the edits of the assignments that u names, or errors at their
// places, beside the assignments of their terms. It is a 404 when none of them
// exists.
func (h *Handler) edit(ctx context.Context, tx pgx.Tx, tenantID int64, u *update, b *bringing) ([]assignment, []edit, []error, error) {
	terms, err := termsOf(ctx, tx, tenantID, u.ids)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := lock(ctx, tx, tenantID, terms); err != nil {
		return nil, nil, nil, err
	}
	now, err := current(ctx, tx, tenantID, terms, allDays)
	if err != nil {
		return nil, nil, nil, err
	}
	byID := make(map[int64]assignment, len(now))
	for _, a := range now {
		byID[a.id] = a
	}
	layers := newLayers(now)
	errs := make([]error, len(u.ids))
	var edits []edit
	known := false
	for i, id := range u.ids {
		a, ok := byID[id]
		known = known || ok
		var e edit
		if !ok {
			errs[i] = patterndefinition.Unknown(fmt.Sprintf("where.groupSchedulePatternIds[%d]", i), what, &commonv1.Ref{Id: proto.Int64(id)})
		} else if e, errs[i] = u.one(a, b, layers); errs[i] == nil {
			edits = append(edits, e)
		}
	}
	if !known {
		errs[0] = patterndefinition.NotFound(what, u.ids[0])
	}
	return now, edits, errs, h.putPattern(ctx, tx, tenantID, edits, b)
}

// putPattern stores the pattern that a request brings and puts it into the
// parts that have none. A request of which nothing is left stores none.
func (h *Handler) putPattern(ctx context.Context, tx pgx.Tx, tenantID int64, edits []edit, b *bringing) error {
	if b == nil || len(edits) == 0 {
		return nil
	}
	ids, err := h.deps.Definitions.Put(ctx, tx, tenantID, []*patterndefinition.Definition{b.definition})
	if err != nil {
		return err
	}
	for i := range edits {
		for k := range edits[i].after {
			if part := &edits[i].after[k]; part.patternID == 0 {
				part.patternID = ids[0]
			}
		}
	}
	return nil
}

// one makes the edit of an assignment and keeps the layers up to date.
func (u *update) one(a assignment, b *bringing, layers *layers) (edit, error) {
	var r *replacement
	if b != nil {
		r = &b.replacement
	}
	if b != nil && b.termID != 0 && b.termID != a.termID {
		return edit{}, patterndefinition.Invalid(u.path+".groupRef",
			"must be the employment term of the assignment %d, which is %q", a.id, a.termName)
	}
	e, err := u.apply(a, r)
	if err != nil {
		return edit{}, err
	}
	if e.changes() {
		if err := layers.change(&e); err != nil {
			return edit{}, err
		}
	}
	return e, nil
}

// finish stores edits of what holds now, and describes them.
func (h *Handler) finish(ctx context.Context, tx pgx.Tx, tenantID int64, now []assignment, edits []edit, expected []propagation.Members) (results, int64, error) {
	at, err := number(ctx, tx, edits)
	if err != nil {
		return nil, 0, err
	}
	propagationID, err := store(ctx, tx, tenantID, at, edits)
	if err != nil {
		return nil, 0, err
	}
	if err := propagation.Expect(ctx, tx, propagationID, expected); err != nil {
		return nil, 0, err
	}
	described, err := h.describe(ctx, tx, tenantID, now, edits)
	return described, propagationID, err
}
