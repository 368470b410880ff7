package query

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// The model: persons day by day, and an evaluator that reads requests as their
// documentation says, without the code under test.

const (
	modelDays = 30
	// Locations change at the beginning of each epoch.
	epochDays = 10
)

// first is day 0 of the model.
const first = civil.Date(20_000)

// perDay says what holds on each day; "" nothing.
type perDay [modelDays]string

type modelPerson struct {
	id                           int64
	number, first, last          string
	worker, manager              string
	hired                        int // day, -1 for unknown
	status, payRule, badge, path perDay
	term                         perDay
	custom                       string
	customDay                    int
	schedule                     modelSchedule
}

// place is where a location is in an epoch.
type place struct {
	parent int
	path   string
	job    int
}

type model struct {
	persons  []modelPerson
	patterns []modelPattern
	// locations has the places by epoch and location; no path when it is not
	// there.
	locations [modelDays / epochDays][locations + 1]place
	// stored are the queries that others contain.
	stored Contained
}

const locations = 5

func drawDays(t *rapid.T, name string, values ...string) perDay {
	var out perDay
	for day := 0; day < modelDays; {
		value := rapid.SampledFrom(append(values, "")).Draw(t, name)
		for end := day + rapid.IntRange(3, modelDays).Draw(t, name+" days"); day < min(end, modelDays); day++ {
			out[day] = value
		}
	}
	return out
}

func drawModel(t *rapid.T) *model {
	m := &model{}
	var paths []string
	for e := range m.locations {
		taken := map[string]bool{}
		for l := 1; l <= locations; l++ {
			p := place{parent: rapid.IntRange(0, l-1).Draw(t, "parent"), job: rapid.IntRange(0, 2).Draw(t, "job")}
			name, above := rapid.SampledFrom([]string{"A", "B"}).Draw(t, "name"), m.locations[e][p.parent].path
			path := strings.TrimPrefix(above+"/"+name, "/")
			if p.parent > 0 && above == "" || taken[path] {
				continue
			}
			p.path, taken[path] = path, true
			paths = append(paths, path)
			m.locations[e][l] = p
		}
	}
	m.patterns = drawPatterns(t, paths)
	for i := range rapid.IntRange(1, 8).Draw(t, "persons") {
		m.persons = append(m.persons, modelPerson{
			id: int64(i + 1), number: fmt.Sprint("N-", i%3, i), first: rapid.SampledFrom([]string{"Ada", "Änne", "adam"}).Draw(t, "first"),
			last:   rapid.SampledFrom([]string{"Okafor", "oka", "Zoë"}).Draw(t, "last"),
			worker: rapid.SampledFrom([]string{"", "Part", "Full"}).Draw(t, "worker"), manager: rapid.SampledFrom([]string{"", "N-00", "N-11", "N-x"}).Draw(t, "manager"),
			hired:  rapid.IntRange(-1, modelDays-1).Draw(t, "hired"),
			status: drawDays(t, "status", "Active", "Terminated"), payRule: drawDays(t, "pay rule", "Hourly", "Monthly"),
			badge: drawDays(t, "badge", fmt.Sprint(i), fmt.Sprint("x", i)), path: drawDays(t, "path", append(paths, "None/A")...),
			term: drawDays(t, "term", "1", "2"), custom: rapid.SampledFrom([]string{"", "red", "reddish"}).Draw(t, "custom"),
			customDay: rapid.IntRange(-1, modelDays-1).Draw(t, "custom day"), schedule: drawSchedule(t, m.patterns, paths),
		})
	}
	return m
}

// namedLocation returns the location that a path names on a day: the one that has it,
// or had it last; 0 for none.
func (m *model) namedLocation(path string, day int) int {
	for e := day / epochDays; e >= 0; e-- {
		for l := 1; l <= locations; l++ {
			if path != "" && m.locations[e][l].path == path {
				return l
			}
		}
	}
	return 0
}

// finds returns the ids of the persons who satisfy constraints on the days.
func (m *model) finds(constraints *commonsv1.HyperfindConstraints, from, to int) []int64 {
	ids := []int64{}
	for i := range m.persons {
		if m.holds(&m.persons[i], constraints, from, to) {
			ids = append(ids, m.persons[i].id)
		}
	}
	return ids
}

func (m *model) holds(p *modelPerson, constraints *commonsv1.HyperfindConstraints, from, to int) bool {
	held := 0
	for _, f := range constraints.GetFilters() {
		var is bool
		if f.GetConstraints() != nil {
			is = m.holds(p, f.GetConstraints(), from, to)
		} else {
			is = m.condition(p, f, from, to)
		}
		if is {
			held++
		}
	}
	switch {
	case len(constraints.GetFilters()) == 0:
		return true
	case constraints.GetComparator() == "OR":
		return held > 0
	case constraints.GetComparator() == "NOT":
		return held == 0
	}
	return held == len(constraints.GetFilters())
}

// condition reads a filter: a negated operator holds when the other does not.
func (m *model) condition(p *modelPerson, f *commonsv1.HyperfindCondition, from, to int) bool {
	for negated, plain := range map[string]string{"NOT_EQUAL_TO": "EQUAL_TO", "NOT_IN": "IN", "NOT_STARTS": "STARTS_WITH", "NOT_LIKE": "LIKE", "NOT_BETWEEN": "BETWEEN", "IS_NULL": "IS_NOT_NULL"} {
		if f.GetOperator() == negated {
			return !m.condition(p, &commonsv1.HyperfindCondition{
				Key: f.Key, Operator: plain, Values: f.Values, Refs: f.Refs, TypeName: f.TypeName, IncludeDescendants: f.IncludeDescendants,
			}, from, to)
		}
	}
	text := func(has string, folded bool) bool {
		switch {
		case has == "":
			return false
		case f.GetOperator() == "LIKE":
			return strings.Contains(strings.ToLower(has), strings.ToLower(f.GetValues()[0]))
		case f.GetOperator() == "BETWEEN":
			return f.GetValues()[0] <= has && has <= f.GetValues()[1]
		}
		return (f.GetOperator() == "IS_NOT_NULL" || slices.ContainsFunc(f.GetValues(), func(v string) bool {
			if folded {
				has, v = strings.ToLower(has), strings.ToLower(v)
			}
			return has == v || f.GetOperator() == "STARTS_WITH" && strings.HasPrefix(has, v)
		}))
	}
	held := func(days perDay, is func(value string, day int) bool) bool {
		for day := from; day <= to; day++ {
			if is(days[day], day) {
				return true
			}
		}
		return false
	}
	heldText := func(days perDay) bool {
		return held(days, func(value string, _ int) bool { return text(value, false) })
	}
	switch f.GetKey() {
	case "PERSON_NUMBER":
		return text(p.number, false)
	case "FIRST_NAME":
		return text(p.first, true)
	case "LAST_NAME":
		return text(p.last, true)
	case "FULL_NAME":
		return text(p.last+", "+p.first, true)
	case "WORKER_TYPE":
		return text(p.worker, false)
	case "MANAGER":
		return p.manager != "" && (f.GetOperator() == "IS_NOT_NULL" || slices.ContainsFunc(f.GetRefs(), func(r *commonv1.Ref) bool {
			return r.GetQualifier() == p.manager || slices.ContainsFunc(m.persons, func(o modelPerson) bool { return o.id == r.GetId() && o.number == p.manager })
		}))
	case "HIRE_DATE":
		return dates(f, p.hired)
	case "CUSTOM_DATE":
		return f.GetTypeName() == "Day" && dates(f, p.customDay)
	case "CUSTOM_FIELD":
		return f.GetTypeName() == "Colour" && text(p.custom, false)
	case "EMPLOYMENT_STATUS":
		return heldText(p.status)
	case "PAY_RULE":
		return heldText(p.payRule)
	case "BADGE":
		return heldText(p.badge)
	case "ORGANIZATION_PATH":
		return heldText(p.path)
	case "EMPLOYMENT_TERM":
		return held(p.term, func(term string, _ int) bool {
			return term != "" && (f.GetOperator() == "IS_NOT_NULL" || slices.ContainsFunc(f.GetRefs(), func(r *commonv1.Ref) bool {
				return fmt.Sprint(r.GetId()) == term || r.GetQualifier() == "Term "+term
			}))
		})
	case "JOB":
		return held(p.path, func(path string, day int) bool { return m.isJob(f, m.namedLocation(path, day), day) })
	case "SCHEDULED", "SCHEDULED_JOB", "SCHEDULED_LOCATION":
		return m.matchesScheduled(p, f, from, to)
	case "HYPERFIND":
		return slices.ContainsFunc(f.GetRefs(), func(r *commonv1.Ref) bool { return m.isMember(p, m.stored[r.GetId()], from, to) })
	case "LOCATION":
		return held(p.path, func(path string, day int) bool { return m.matchesWithin(f, path, day, to) })
	}
	panic(f.GetKey())
}

// isJob reports whether a location is one of the jobs of a filter on a day.
func (m *model) isJob(f *commonsv1.HyperfindCondition, l, day int) bool {
	at := m.locations[day/epochDays][l]
	return l > 0 && at.path != "" && at.job > 0 && (f.GetOperator() == "IS_NOT_NULL" || slices.ContainsFunc(f.GetRefs(), func(r *commonv1.Ref) bool {
		return r.GetId() == int64(at.job) || r.GetQualifier() == fmt.Sprint("Job ", at.job)
	}))
}

func (m *model) matchesWithin(f *commonsv1.HyperfindCondition, path string, day, last int) bool {
	if f.GetOperator() == "IS_NOT_NULL" {
		return path != ""
	}
	return m.isBelow(f, m.namedLocation(path, day), day, last)
}

// isBelow reports whether a location is one of a filter's locations, or below one, on a day.
func (m *model) isBelow(f *commonsv1.HyperfindCondition, l, day, last int) bool {
	for ; l > 0 && m.locations[day/epochDays][l].path != ""; l = m.locations[day/epochDays][l].parent {
		if slices.ContainsFunc(f.GetRefs(), func(r *commonv1.Ref) bool {
			return r.GetId() == int64(l) || r.Id == nil && m.namedLocation(r.GetQualifier(), last) == l
		}) {
			return true
		}
		if f.IncludeDescendants != nil && !f.GetIncludeDescendants() {
			return false
		}
	}
	return false
}

func dates(f *commonsv1.HyperfindCondition, has int) bool {
	if has < 0 {
		return false
	}
	day := (first + civil.Date(has)).String()
	v := append(f.GetValues(), "", "")
	switch f.GetOperator() {
	case "LESS_THAN":
		return day < v[0]
	case "LESS_THAN_OR_EQUAL_TO":
		return day <= v[0]
	case "GREATER_THAN":
		return day > v[0]
	case "GREATER_THAN_OR_EQUAL_TO":
		return day >= v[0]
	case "BETWEEN":
		return v[0] <= day && day <= v[1]
	case "IS_NOT_NULL":
		return true
	}
	return slices.Contains(f.GetValues(), day)
}
