package patterndefinition

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// lookupKeys collects distinct ids and names to look up.
type lookupKeys struct {
	ids   map[int64]struct{}
	names map[string]struct{}
}

func newLookupKeys() lookupKeys {
	return lookupKeys{ids: map[int64]struct{}{}, names: map[string]struct{}{}}
}

func (w lookupKeys) add(id *int64, name string) {
	if id != nil {
		w.ids[*id] = struct{}{}
	} else {
		w.names[foldCase(name)] = struct{}{}
	}
}

func (w lookupKeys) isEmpty() bool { return len(w.ids) == 0 && len(w.names) == 0 }

func (w lookupKeys) lists() (ids []int64, names []string) {
	for id := range w.ids {
		ids = append(ids, id)
	}
	for name := range w.names {
		names = append(names, name)
	}
	return ids, names
}

// template has the common methods of both kinds of templates.
type template interface {
	proto.Message
	GetId() int64
	GetName() string
}

// found has templates by id and by name.
type found[T template] struct {
	byID   map[int64]T
	byName map[string]T
}

func index[T template](list []T) found[T] {
	f := found[T]{byID: make(map[int64]T, len(list)), byName: make(map[string]T, len(list))}
	for _, t := range list {
		f.byID[t.GetId()] = t
		f.byName[foldCase(t.GetName())] = t
	}
	return f
}

// get returns the template with the id or, without an id, with the name.
func (f found[T]) get(id *int64, name string) (T, bool) {
	if id != nil {
		t, ok := f.byID[*id]
		return t, ok
	}
	t, ok := f.byName[foldCase(name)]
	return t, ok
}

func foldCase(name string) string { return strings.ToLower(name) }

// ref returns the reference to a requested template, for messages.
func ref(id *int64, name string) *commonv1.Ref {
	return &commonv1.Ref{Id: id, Qualifier: &name}
}

// followTemplates replaces patterns that only name a pattern template by the template. A start date
// in the request is kept.
func (d *Definitions) followTemplates(
	ctx context.Context, db pg.Querier,
	requests []Request, patterns []*schedulingv1.SchedulePattern, results []Result,
) error {
	want := newLookupKeys()
	for _, p := range patterns {
		if p != nil && namesPattern(p) {
			want.add(p.Id, p.GetName())
		}
	}
	if want.isEmpty() {
		return nil
	}
	ids, names := want.lists()
	list, err := d.patterns.Find(ctx, db, ids, names)
	if err != nil {
		return fmt.Errorf("patterndefinition: find pattern templates: %w", err)
	}
	have := index(list)
	for i, p := range patterns {
		if p == nil || !namesPattern(p) {
			continue
		}
		t, ok := have.get(p.Id, p.GetName())
		if !ok {
			results[i].Err = Unknown(requests[i].Path, "schedule pattern template", ref(p.Id, p.GetName()))
			continue
		}
		patterns[i] = proto.CloneOf(t)
		if p.GetStartDate() != "" {
			patterns[i].StartDate = p.GetStartDate()
		}
	}
	return nil
}

// fillShifts replaces shift templates that are only named by the stored ones.
func (d *Definitions) fillShifts(
	ctx context.Context, db pg.Querier,
	requests []Request, patterns []*schedulingv1.SchedulePattern, results []Result,
) error {
	want := newLookupKeys()
	for i, p := range patterns {
		if results[i].Err != nil {
			continue
		}
		for _, item := range p.GetItems() {
			if t := item.GetShiftTemplate(); t != nil && NamesShift(t) {
				want.add(t.Id, t.GetName())
			}
		}
	}
	if want.isEmpty() {
		return nil
	}
	ids, names := want.lists()
	list, err := d.shifts.Find(ctx, db, ids, names)
	if err != nil {
		return fmt.Errorf("patterndefinition: find shift templates: %w", err)
	}
	have := index(list)
	for i, p := range patterns {
		if results[i].Err == nil {
			results[i].Err = fill(requests[i].Path, p, have)
		}
	}
	return nil
}

func fill(path string, p *schedulingv1.SchedulePattern, have found[*schedulingv1.ShiftTemplate]) error {
	var errs []error
	for i, item := range p.GetItems() {
		t := item.GetShiftTemplate()
		if t == nil || !NamesShift(t) {
			continue
		}
		stored, ok := have.get(t.Id, t.GetName())
		if !ok {
			errs = append(errs, Unknown(fmt.Sprintf("%s.items[%d].shiftTemplate", path, i), "shift template", ref(t.Id, t.GetName())))
			continue
		}
		item.ShiftTemplate = stored
	}
	return fault.Join(errs...)
}
