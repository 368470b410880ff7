package location

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationtype"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// question is a parsed criterion.
type question struct {
	kind kind
	days civil.Range
	// ids are the start of the search: ids of locations, or the id of a set.
	ids []int64
	// text is the text of a query.
	text string
	// types are the types of the returned locations; nil stands for all. The search does not
	// return the descendants of locations of stop types.
	types, stop []int64
}

// kind is a kind of criterion.
type kind int

const (
	byName kind = iota
	byPath
	top
	descendants
	every
	children
	ancestors
	parent
	ofSet
	belowSet
	listed
)

// read reads the criterion of a request, which must have exactly one.
func (h *Handler) read(ctx context.Context, where *commonsv1.LocationWhere) (question, error) {
	var given []bool
	var read func() (question, error)
	for _, c := range []struct {
		is   bool
		read func() (question, error)
	}{
		{where.GetQuery() != nil, func() (question, error) { return readQuery(where.GetQuery()) }},
		{where.GetDescendantsOf() != nil, func() (question, error) {
			return h.parseQuestion(ctx, "where.descendantsOf", descendants, where.GetDescendantsOf())
		}},
		{where.GetDescendantsOfDuring() != nil, func() (question, error) {
			return h.readDuring(ctx, "where.descendantsOfDuring", descendants, where.GetDescendantsOfDuring())
		}},
		{where.GetChildrenOf() != nil, func() (question, error) {
			return h.parseQuestion(ctx, "where.childrenOf", children, where.GetChildrenOf())
		}},
		{where.GetChildrenOfDuring() != nil, func() (question, error) {
			return h.readDuring(ctx, "where.childrenOfDuring", children, where.GetChildrenOfDuring())
		}},
		{where.GetAncestorsOf() != nil, func() (question, error) {
			return h.parseQuestion(ctx, "where.ancestorsOf", ancestors, where.GetAncestorsOf())
		}},
		{where.GetParentOf() != nil, func() (question, error) {
			return h.parseQuestion(ctx, "where.parentOf", parent, where.GetParentOf())
		}},
		{where.GetLocationSet() != nil, func() (question, error) { return h.readSet(ctx, where.GetLocationSet()) }},
		{where.GetLocationsSpan() != nil, func() (question, error) { return h.readSpan(ctx, where.GetLocationsSpan()) }},
	} {
		given = append(given, c.is)
		if c.is {
			read = c.read
		}
	}
	if err := fault.ExactlyOne(structure.CodeOneCriterion, "where", "query, descendantsOf, descendantsOfDuring, childrenOf, childrenOfDuring, "+
		"ancestorsOf, parentOf, locationSet and locationsSpan", given...); err != nil {
		return question{}, err
	}
	return read()
}

func readQuery(query *commonsv1.LocationQuery) (question, error) {
	q := question{text: query.GetQ()}
	if err := structure.CheckContext("where.query.context", query.GetContext()); err != nil {
		return q, err
	}
	day, err := structure.Day("where.query.date", query.GetDate())
	if err != nil {
		return q, err
	}
	q.days = civil.Through(day, day)
	switch {
	case q.text == "":
		return q, structure.Missing("where.query.q")
	case q.text == "/":
		q.kind = top
	case strings.Contains(q.text, "/"):
		q.kind, q.text = byPath, strings.Trim(q.text, "/")
	}
	contexts := []string{"MANAGER_GROUP", "MANAGER_TRANSFER_GROUP", "EMPLOYEE_TRANSFER_GROUP", "EMPLOYEE_MGR_TRANSFER_GROUP"}
	if given := query.GetOrgMapGroupContext(); given != "" && !slices.Contains(contexts, given) {
		return q, fault.Invalid(structure.CodeValue, suggest.NotOneOf("where.query.orgMapGroupContext", given, contexts...))
	}
	return q, nil
}

func (h *Handler) parseQuestion(ctx context.Context, path string, kind kind, of *commonsv1.LocationsOf) (question, error) {
	q := question{kind: kind}
	if err := structure.CheckContext(path+".context", of.GetContext()); err != nil {
		return q, err
	}
	day, err := structure.Day(path+".date", of.GetDate())
	if err != nil {
		return q, err
	}
	q.days = civil.Through(day, day)
	several := of.GetLocationRefs()
	if kind != children && several != nil {
		return q, structure.Invalid(path+".locationRefs", "belongs to childrenOf")
	}
	if below, ok := belowTop(kind); ok && several == nil && isTop(of.GetLocationRef()) {
		q.kind = below
	} else if q.ids, err = h.start(ctx, path, of.GetLocationRef(), several, day); err != nil {
		return q, err
	}
	q.types, err = h.types(ctx, path+".includeLocationTypes", of.GetIncludeLocationTypes())
	return q, err
}

// belowTop returns the kind of question that asks for the descendants or the children of the top of the
// tree. The top itself has no row.
func belowTop(k kind) (kind, bool) {
	switch k {
	case descendants:
		return every, true
	case children:
		return top, true
	}
	return k, false
}

func (h *Handler) readDuring(ctx context.Context, path string, kind kind, of *commonsv1.LocationsOfDuring) (question, error) {
	q := question{kind: kind}
	err := structure.CheckContext(path+".context", of.GetContext())
	if err != nil {
		return q, err
	}
	if q.days, err = structure.Span(path, of.GetStartDate(), of.GetEndDate()); err != nil {
		return q, err
	}
	if below, ok := belowTop(kind); ok && of.GetLocationRefs() == nil && isTop(of.GetLocationRef()) {
		q.kind = below
	} else if q.ids, err = h.start(ctx, path, of.GetLocationRef(), of.GetLocationRefs(), q.days.From); err != nil {
		return q, err
	}
	if q.types, err = h.types(ctx, path+".includeLocationTypes", of.GetIncludeLocationTypes()); err != nil {
		return q, err
	}
	if of.GetStopTraversal() {
		q.stop = q.types
	}
	return q, nil
}

func (h *Handler) readSet(ctx context.Context, of *commonsv1.LocationsOfSet) (question, error) {
	const path = "where.locationSet"
	q := question{kind: ofSet}
	err := structure.CheckContext(path+".context", of.GetContext())
	if err != nil {
		return q, err
	}
	if span := of.GetSpan(); span != nil {
		q.days, err = structure.Span(path+".span", span.GetStart(), span.GetEnd())
	} else {
		var day civil.Date
		day, err = structure.Day(path+".date", of.GetDate())
		q.days = civil.Through(day, day)
	}
	if err != nil {
		return q, err
	}
	if err := structure.CheckRef(path+".locationSetRef", of.GetLocationSetRef()); err != nil {
		return q, err
	}
	id, err := setID(ctx, h.pool, of.GetLocationSetRef())
	if err != nil {
		return q, err
	}
	q.ids = []int64{id}
	if q.types, err = h.types(ctx, path+".expandToLocationTypes", of.GetExpandToLocationTypes()); err != nil {
		return q, err
	}
	if q.types != nil {
		q.kind = belowSet
	}
	return q, nil
}

func (h *Handler) readSpan(ctx context.Context, span *commonsv1.LocationsSpan) (question, error) {
	const path = "where.locationsSpan"
	q := question{kind: listed}
	err := structure.CheckContext(path+".context", span.GetContext())
	if err != nil {
		return q, err
	}
	if q.days, err = structure.Span(path, span.GetStartDate(), span.GetEndDate()); err != nil {
		return q, err
	}
	revision, err := structure.DayOr(path+".revisionDate", span.GetRevisionDate(), q.days.From)
	if err != nil {
		return q, err
	}
	q.ids, err = h.start(ctx, path, span.GetLocationRef(), span.GetLocationRefs(), revision)
	return q, err
}

// start returns the locations from which a criterion starts.
func (h *Handler) start(ctx context.Context, path string, one *commonv1.Ref, several *commonv1.RefList, day civil.Date) ([]int64, error) {
	refs, err := structure.OneOrMore(path+".location", one, several)
	if err != nil {
		return nil, err
	}
	return locationpath.Resolve(ctx, h.pool, refs, day)
}

// types returns the ids of location types, or nil if the list is empty.
func (h *Handler) types(ctx context.Context, path string, list *commonv1.RefList) ([]int64, error) {
	if cmp.Or(len(list.GetIds()), len(list.GetQualifiers()), len(list.GetRefs())) == 0 {
		return nil, nil
	}
	refs, err := structure.Refs(path, list)
	if err != nil {
		return nil, err
	}
	return locationtype.Resolve(ctx, h.pool, refs)
}
