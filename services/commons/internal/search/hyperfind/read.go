package hyperfind

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// What a query may hold.
const (
	mostFilters = 100
	mostDepth   = 8
	mostValues  = 1000
	// mostInAll bounds the values and references of all filters together.
	mostInAll = 2000
	// mostPlaces bounds the filters on locations, jobs and schedules, each of
	// which reads a part of the tree or of the schedules, however few its values.
	mostPlaces  = 10
	longestText = 200
	longestPath = 2000
)

// reader turns constraints into nodes.
type reader struct {
	filters, values, places int
}

// read checks constraints and answers what they say. Constraints without
// filters, or none, hold for everybody.
func read(constraints *commonsv1.HyperfindConstraints) (*node, error) {
	if constraints == nil || len(constraints.GetFilters()) == 0 && constraints.GetComparator() == "" {
		return all(), nil
	}
	r := &reader{}
	if len(constraints.GetFilters()) == 0 {
		_, err := comparator("constraints", constraints.GetComparator())
		return all(), err
	}
	return r.combine("constraints", constraints, 1)
}

// asked answers whom constraints find on some days. Whose employment is over on all
// of them is left out, unless the constraints ask for the employment status.
func asked(constraints *commonsv1.HyperfindConstraints, days civil.Range) (*node, error) {
	root, err := read(constraints)
	if err != nil || root.asks(keyStatus) {
		return root, err
	}
	status, _ := keyNamed(keyStatus)
	over := condition{key: status, operator: in, texts: []string{terminated}, days: &days, whole: true}
	if root.condition == nil && len(root.parts) == 0 {
		return all(not(leaf(over))), nil
	}
	return all(root, not(leaf(over))), nil
}

func invalid(path, format string, args ...any) *fault.Error {
	return fault.Invalid(CodeQuery, path+" "+fmt.Sprintf(format, args...)+".")
}

func comparator(path, given string) (string, error) {
	c := strings.ToUpper(given)
	switch c {
	case "":
		return "AND", nil
	case "AND", "OR", "NOT":
		return c, nil
	}
	return "", invalid(path+".comparator", "must be AND, OR or NOT")
}

func (r *reader) combine(path string, constraints *commonsv1.HyperfindConstraints, depth int) (*node, error) {
	how, err := comparator(path, constraints.GetComparator())
	if err != nil {
		return nil, err
	}
	switch {
	case depth > mostDepth:
		return nil, invalid(path, "lies deeper than %d levels", mostDepth)
	case len(constraints.GetFilters()) == 0:
		return nil, invalid(path+".filters", "must not be empty")
	}
	out := &node{any: how != "AND"}
	for i, f := range constraints.GetFilters() {
		part, err := r.filter(fmt.Sprintf("%s.filters[%d]", path, i), f, depth)
		if err != nil {
			return nil, err
		}
		out.parts = append(out.parts, part)
	}
	if how == "NOT" {
		out = not(out)
	}
	return out, nil
}

func (r *reader) filter(path string, f *commonsv1.HyperfindFilter, depth int) (*node, error) {
	if r.filters++; r.filters > mostFilters {
		return nil, invalid("constraints", "must not have more than %d filters", mostFilters)
	}
	if f.GetConstraints() != nil {
		if f.GetKey() != "" || f.GetOperator() != "" || len(f.GetValues()) > 0 || len(f.GetRefs()) > 0 || f.GetTypeName() != "" {
			return nil, invalid(path, "must have either key or constraints")
		}
		return r.combine(path+".constraints", f.GetConstraints(), depth+1)
	}
	k, known := keyNamed(strings.ToUpper(f.GetKey()))
	if !known {
		return nil, invalid(path+".key", "must be one of %s", strings.Join(keyNames(), ", "))
	}
	op, known := operators()[strings.ToUpper(f.GetOperator())]
	if !known || !slices.Contains(k.operators(), op.operator) {
		return nil, invalid(path+".operator", "is not one that %s has", k.name)
	}
	if err := r.count(f, k); err != nil {
		return nil, err
	}
	c := condition{key: k, operator: op.operator, typeName: f.GetTypeName(), alone: f.IncludeDescendants != nil && !f.GetIncludeDescendants()}
	if err := c.take(path, f, strings.HasSuffix(strings.ToUpper(f.GetOperator()), "EQUAL_TO")); err != nil {
		return nil, err
	}
	return &node{condition: &c, negated: op.negated}, nil
}

// count adds a filter to what the query costs, and refuses what is too much.
func (r *reader) count(f *commonsv1.HyperfindFilter, k key) error {
	if r.values += len(f.GetValues()) + len(f.GetRefs()); r.values > mostInAll {
		return tooCostly("values and references of all filters", r.values, mostInAll)
	}
	if k.kind != reference || k.name == keyTerm || k.name == keyManager {
		return nil
	}
	if r.places++; r.places > mostPlaces {
		return tooCostly("filters on locations, jobs and schedules", r.places, mostPlaces)
	}
	return nil
}

func tooCostly(what string, actual, most int) error {
	return fault.TooLarge(CodeCostly, fmt.Sprintf("Service limits are exceeded: %s: at least %d, allowed: %d. "+
		"Give one filter a list instead of many filters, or ask several times.", what, actual, most)).WithLimits(int64(actual), int64(most))
}

func keyNames() []string {
	var names []string
	for _, k := range keys() {
		names = append(names, k.name)
	}
	return names
}

// take takes the values of a filter; a single one where the operator says so.
func (k *condition) take(path string, f *commonsv1.HyperfindFilter, single bool) error {
	custom := k.kind == customText || k.kind == customDate
	switch {
	case custom && (f.GetTypeName() == "" || utf8.RuneCountInString(f.GetTypeName()) > longestText || strings.ContainsRune(f.GetTypeName(), 0)):
		return invalid(path+".typeName", "must name the custom field in at most %d characters", longestText)
	case !custom && f.GetTypeName() != "":
		return invalid(path+".typeName", "is for custom fields only")
	case f.IncludeDescendants != nil && k.name != keyLocation && k.name != keyScheduledLocation:
		return invalid(path+".includeDescendants", "is for %s and %s only", keyLocation, keyScheduledLocation)
	case k.kind != reference && len(f.GetRefs()) > 0:
		return invalid(path+".refs", "is for references only; give values")
	case k.kind == reference && k.operator != isNotNull && len(f.GetValues()) > 0:
		return invalid(path+".values", "must not be given; give refs")
	}
	given := len(f.GetValues()) + len(f.GetRefs())
	least, most := 1, mostValues
	switch {
	case k.operator == isNotNull:
		least, most = 0, 0
	case k.operator == between:
		least, most = 2, 2
	case single || k.operator != in:
		most = 1
	}
	if given < least || given > most {
		return invalid(path, "needs %s", howMany(least, most, k.kind == reference))
	}
	if err := k.takeRefs(path, f); err != nil {
		return err
	}
	return k.takeValues(path, f.GetValues())
}

// howMany says how many values, or references, a filter takes.
func howMany(least, most int, refs bool) string {
	one, many := "value", "values"
	if refs {
		one, many = "element of refs", "elements of refs"
	}
	switch {
	case most == 0:
		return "no " + many
	case most == 1:
		return "exactly 1 " + one
	case least == most:
		return fmt.Sprintf("exactly %d %s", least, many)
	}
	return fmt.Sprintf("%d to %d %s", least, most, many)
}

func (k *condition) takeRefs(path string, f *commonsv1.HyperfindFilter) error {
	k.ids, k.names = nil, []string{}
	if k.kind != reference {
		return nil
	}
	k.ids = []int64{}
	for i, ref := range f.GetRefs() {
		switch {
		case ref.Id != nil:
			k.ids = append(k.ids, ref.GetId())
		case ref.GetQualifier() == "" || len(ref.GetQualifier()) > longestPath || strings.ContainsRune(ref.GetQualifier(), 0):
			return invalid(fmt.Sprintf("%s.refs[%d]", path, i), "needs an id or a qualifier of at most %d bytes", longestPath)
		default:
			k.names = append(k.names, ref.GetQualifier())
		}
	}
	return nil
}

func (k *condition) takeValues(path string, values []string) error {
	longest := longestText
	if k.column == "organization_path" {
		longest = longestPath
	}
	for i, v := range values {
		at := fmt.Sprintf("%s.values[%d]", path, i)
		if k.kind == date || k.kind == customDate {
			d, err := civil.ParseDate(v)
			if err != nil {
				return invalid(at, "must be a date of the form YYYY-MM-DD")
			}
			k.dates = append(k.dates, d.Clamp())
			continue
		}
		if v == "" || utf8.RuneCountInString(v) > longest || strings.ContainsFunc(v, unicode.IsControl) {
			return invalid(at, "must have 1 to %d characters, without control characters", longest)
		}
		if k.values != nil && k.operator != like {
			one := slices.IndexFunc(k.values, func(s string) bool { return strings.EqualFold(s, v) })
			if one < 0 {
				return invalid(at, "must be one of %s", strings.Join(k.values, ", "))
			}
			v = k.values[one]
		}
		k.texts = append(k.texts, v)
	}
	return nil
}
