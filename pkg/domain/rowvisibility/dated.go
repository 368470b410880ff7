package rowvisibility

import (
	"context"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
)

// PersonDays are the days of a person that a principal sees.
type PersonDays struct {
	PersonID int64
	Days     civil.Range
}

// DatedSource is a Source that also shows persons on some days only, such as persons who join an
// employee group later.
type DatedSource interface {
	Source
	// Days returns these days, in any order. It is called like Persons, but only for operations
	// that concern days.
	Days(ctx context.Context, p *authn.Principal) ([]PersonDays, error)
}

type daysKey struct{}

// OnDays returns a context in which a caller also sees the persons visible on all of the
// days. Use it where a request reads or writes nothing outside of the days.
func OnDays(ctx context.Context, days civil.Range) context.Context {
	return context.WithValue(ctx, daysKey{}, &days)
}

// OnAnyDay returns a context in which a caller also sees the persons visible on some day.
// The operation must check the days of each row with [Set.HasOn].
func OnAnyDay(ctx context.Context) context.Context {
	return context.WithValue(ctx, daysKey{}, (*civil.Range)(nil))
}

// isDated reports whether a context is from OnDays or OnAnyDay. The days of OnAnyDay are nil.
func isDated(ctx context.Context) (days *civil.Range, dated bool) {
	days, dated = ctx.Value(daysKey{}).(*civil.Range)
	return days, dated
}

// restrict returns the persons of a dated set who are visible on all of the days; nil means on any
// day.
func (s Set) restrict(days *civil.Range) Set {
	if s.all || len(s.dated) == 0 {
		s.dated = nil
		return s
	}
	ids := slices.Clone(s.ids)
	for id, ranges := range s.dated {
		if days == nil || coverDays(ranges, *days) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	s.ids = ids
	if days != nil {
		s.dated = nil
	}
	return s
}

// coverDays reports whether one of some ranges has all days.
func coverDays(ranges []civil.Range, days civil.Range) bool {
	return slices.ContainsFunc(ranges, func(r civil.Range) bool { return r.Covers(days) })
}

// datedPersons returns the persons whom a principal sees on some days only.
func (r *Rules) datedPersons(ctx context.Context, p *authn.Principal, always Set) (map[int64][]civil.Range, error) {
	var out map[int64][]civil.Range
	for _, source := range r.sources {
		dated, ok := source.(DatedSource)
		if !ok {
			continue
		}
		list, err := dated.Days(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			if always.has(d.PersonID) {
				continue
			}
			if out == nil {
				out = map[int64][]civil.Range{}
			}
			out[d.PersonID] = append(out[d.PersonID], d.Days)
		}
	}
	for id, ranges := range out {
		out[id] = civil.Normalise(ranges)
	}
	return out, nil
}
