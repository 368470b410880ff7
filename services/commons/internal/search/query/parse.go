package query

import (
	"cmp"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Limits of a query.
const (
	MaxFilters = 100
	MaxDepth   = 8
	maxValues  = 1000
	// maxValuesInAll limits the values and references of all filters together.
	maxValuesInAll = 2000
	// maxCostly limits the filters on locations, jobs and schedules. Each of them reads a part
	// of the tree or of the schedules, even with few values.
	maxCostly = 10
	maxText   = 200
	maxPath   = 2000
)

// reader converts constraints to nodes.
type reader struct {
	filters, values, places int
	// contained are the contained queries, for persons on the days.
	contained Contained
	days      civil.Range
	// level counts the queries around the current one. status reports that the current one has a
	// condition on the employment status, itself or in a contained query.
	level  int
	status bool
}

// Parse checks constraints and converts them to a node. Constraints without filters apply to
// all persons, and so do nil constraints. The contents of contained queries are not checked, and the node
// finds no persons for them.
func Parse(constraints *commonsv1.HyperfindConstraints) (*Node, error) {
	return (&reader{}).root("constraints", constraints)
}

// ParseOn returns the node of constraints for some days. It excludes persons whose employment
// is terminated on all days, unless the constraints or contained queries have a condition on the
// employment status. Contained queries that are not in the map find no persons.
func ParseOn(constraints *commonsv1.HyperfindConstraints, days civil.Range, contained Contained) (*Node, error) {
	return (&reader{days: days, contained: contained}).persons("constraints", constraints)
}

func (r *reader) root(path string, constraints *commonsv1.HyperfindConstraints) (*Node, error) {
	if len(constraints.GetFilters()) == 0 {
		_, err := comparator(path, constraints.GetComparator())
		return All(), err
	}
	return r.combine(path, constraints, 1)
}

// persons returns the node of the persons that a query finds on the days.
func (r *reader) persons(path string, constraints *commonsv1.HyperfindConstraints) (*Node, error) {
	root, err := r.root(path, constraints)
	if err != nil || r.status {
		return root, err
	}
	employed := Not(IsTerminated(r.days, true))
	if len(constraints.GetFilters()) == 0 {
		return All(employed), nil
	}
	return All(root, employed), nil
}

// Invalid returns the error for a property with an invalid value.
func Invalid(path, format string, args ...any) *fault.Error {
	return fault.Invalid(CodeQuery, path+" "+fmt.Sprintf(format, args...)+".").WithMembers(path)
}

// Canonical returns constraints that Parse has accepted in the form of responses: comparators,
// keys and operators are in upper case, and comparators are always present.
func Canonical(given *commonsv1.HyperfindConstraints) *commonsv1.HyperfindConstraints {
	if given == nil || len(given.GetFilters()) == 0 && given.GetComparator() == "" {
		return given
	}
	out := proto.CloneOf(given)
	upperCaseWords(out)
	return out
}

func upperCaseWords(constraints *commonsv1.HyperfindConstraints) {
	constraints.Comparator = cmp.Or(strings.ToUpper(constraints.GetComparator()), "AND")
	for _, f := range constraints.GetFilters() {
		f.Key, f.Operator = strings.ToUpper(f.GetKey()), strings.ToUpper(f.GetOperator())
		if f.GetConstraints() != nil {
			upperCaseWords(f.GetConstraints())
		}
	}
}

func comparator(path, given string) (string, error) {
	c := strings.ToUpper(given)
	switch c {
	case "":
		return "AND", nil
	case "AND", "OR", "NOT":
		return c, nil
	}
	return "", Invalid(path+".comparator", "must be AND, OR or NOT")
}

func (r *reader) combine(path string, constraints *commonsv1.HyperfindConstraints, depth int) (*Node, error) {
	how, err := comparator(path, constraints.GetComparator())
	if err != nil {
		return nil, err
	}
	switch {
	case depth > MaxDepth:
		return nil, Invalid(path, "is nested deeper than %d levels", MaxDepth)
	case len(constraints.GetFilters()) == 0:
		return nil, Invalid(path+".filters", "must not be empty")
	}
	out := &Node{any: how != "AND"}
	var errs []error
	for i, f := range constraints.GetFilters() {
		if len(errs) == fault.MaxViolations {
			break
		}
		part, err := r.filter(fmt.Sprintf("%s.filters[%d]", path, i), f, depth)
		if err != nil {
			errs = append(errs, err)
		}
		out.parts = append(out.parts, part)
	}
	if err := fault.Join(errs...); err != nil {
		return nil, err
	}
	if how == "NOT" {
		out = Not(out)
	}
	return out, nil
}

func (r *reader) filter(path string, f *commonsv1.HyperfindCondition, depth int) (*Node, error) {
	if r.filters++; r.filters > MaxFilters {
		return nil, Invalid("constraints", "must not have more than %d filters", MaxFilters)
	}
	if f.GetConstraints() != nil {
		if f.GetKey() != "" || f.GetOperator() != "" || len(f.GetValues()) > 0 || len(f.GetRefs()) > 0 || f.GetTypeName() != "" {
			return nil, Invalid(path, "must have either key or constraints")
		}
		return r.combine(path+".constraints", f.GetConstraints(), depth+1)
	}
	k, known := keyNamed(strings.ToUpper(f.GetKey()))
	if !known {
		return nil, suggesting(f.GetKey(), slices.Values(keyNames()), Invalid(path+".key", "must be one of %s", strings.Join(keyNames(), ", ")))
	}
	op, known := operators()[strings.ToUpper(f.GetOperator())]
	if !known || !slices.Contains(k.operators(), op.operator) {
		return nil, suggesting(f.GetOperator(), k.operatorNames(), Invalid(path+".operator", "is not one that %s has", k.name))
	}
	if err := r.count(f, k); err != nil {
		return nil, err
	}
	c := condition{key: k, operator: op.operator, typeName: f.GetTypeName(), alone: f.IncludeDescendants != nil && !f.GetIncludeDescendants()}
	if err := c.take(path, f, strings.HasSuffix(strings.ToUpper(f.GetOperator()), "EQUAL_TO")); err != nil {
		return nil, err
	}
	r.status = r.status || k.name == KeyStatus
	if k.name != KeyHyperfind {
		return &Node{condition: &c, negated: op.negated}, nil
	}
	out, err := r.memberNode(path, c.ids)
	if err == nil && op.negated {
		out = Not(out)
	}
	return out, err
}

// suggesting adds the known name nearest to the given one to an error.
func suggesting(given string, known iter.Seq[string], bad *fault.Error) *fault.Error {
	return bad.WithMessage(bad.Message + suggest.Hint(given, known))
}

// operatorNames returns the names of the operators that a key has.
func (k key) operatorNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name, op := range operators() {
			if slices.Contains(k.operators(), op.operator) && !yield(name) {
				return
			}
		}
	}
}

// count adds a filter to the cost of the query, and refuses a query that is too costly.
func (r *reader) count(f *commonsv1.HyperfindCondition, k key) error {
	if r.values += len(f.GetValues()) + len(f.GetRefs()); r.values > maxValuesInAll {
		return tooCostly("values and references of all filters", r.values, maxValuesInAll)
	}
	if k.kind != reference || k.name == KeyTerm || k.name == KeyManager || k.name == KeyHyperfind {
		return nil
	}
	if r.places++; r.places > maxCostly {
		return tooCostly("filters on locations, jobs and schedules", r.places, maxCostly)
	}
	return nil
}

func tooCostly(what string, actual, limit int) error {
	return fault.OverLimit(CodeCostly, http.StatusRequestEntityTooLarge, what, actual, limit,
		"Give one filter a list instead of many filters, or ask several times.")
}

func keyNames() []string {
	var names []string
	for _, k := range Keys() {
		names = append(names, k.name)
	}
	return names
}

// take reads the values of a filter, or only one if the operator requires it.
func (k *condition) take(path string, f *commonsv1.HyperfindCondition, single bool) error {
	custom := k.kind == customText || k.kind == customDate
	switch {
	case custom && (f.GetTypeName() == "" || utf8.RuneCountInString(f.GetTypeName()) > maxText || strings.ContainsRune(f.GetTypeName(), 0)):
		return Invalid(path+".typeName", "must name the custom field in at most %d characters", maxText)
	case !custom && f.GetTypeName() != "":
		return Invalid(path+".typeName", "is for custom fields only")
	case f.IncludeDescendants != nil && k.name != KeyLocation && k.name != KeyScheduledLocation:
		return Invalid(path+".includeDescendants", "is for %s and %s only", KeyLocation, KeyScheduledLocation)
	case k.kind != reference && len(f.GetRefs()) > 0:
		return Invalid(path+".refs", "is for references only; give values")
	case k.kind == reference && k.operator != isNotNull && len(f.GetValues()) > 0:
		return Invalid(path+".values", "must not be given; give refs")
	}
	given := len(f.GetValues()) + len(f.GetRefs())
	least, limit := 1, maxValues
	switch {
	case k.operator == isNotNull:
		least, limit = 0, 0
	case k.operator == between:
		least, limit = 2, 2
	case single || k.operator != in:
		limit = 1
	}
	if given < least || given > limit {
		return Invalid(path, "needs %s", describeCount(least, limit, k.kind == reference))
	}
	if err := k.takeRefs(path, f); err != nil {
		return err
	}
	return k.takeValues(path, f.GetValues())
}

// describeCount describes the allowed number of values or references of a filter.
func describeCount(least, limit int, refs bool) string {
	one, many := "value", "values"
	if refs {
		one, many = "element of refs", "elements of refs"
	}
	switch {
	case limit == 0:
		return "no " + many
	case limit == 1:
		return "exactly 1 " + one
	case least == limit:
		return fmt.Sprintf("exactly %d %s", least, many)
	}
	return fmt.Sprintf("%d to %d %s", least, limit, many)
}

func (k *condition) takeRefs(path string, f *commonsv1.HyperfindCondition) error {
	k.ids, k.names = nil, []string{}
	if k.kind != reference {
		return nil
	}
	k.ids = []int64{}
	for i, ref := range f.GetRefs() {
		switch {
		case ref.Id != nil:
			k.ids = append(k.ids, ref.GetId())
		case ref.GetQualifier() == "" || len(ref.GetQualifier()) > maxPath || strings.ContainsRune(ref.GetQualifier(), 0):
			return Invalid(fmt.Sprintf("%s.refs[%d]", path, i), "needs an id or a qualifier of at most %d bytes", maxPath)
		default:
			k.names = append(k.names, ref.GetQualifier())
		}
	}
	return nil
}

func (k *condition) takeValues(path string, values []string) error {
	limit := maxText
	if k.column == "organization_path" {
		limit = maxPath
	}
	for i, v := range values {
		at := fmt.Sprintf("%s.values[%d]", path, i)
		if k.kind == date || k.kind == customDate {
			d, err := civil.ParseDate(v)
			if err != nil {
				return Invalid(at, "must be a date of the form YYYY-MM-DD")
			}
			k.dates = append(k.dates, d.Clamp())
			continue
		}
		if v == "" || utf8.RuneCountInString(v) > limit || strings.ContainsFunc(v, unicode.IsControl) {
			return Invalid(at, "must have 1 to %d characters, without control characters", limit)
		}
		if k.values != nil && k.operator != like {
			one := slices.IndexFunc(k.values, func(s string) bool { return strings.EqualFold(s, v) })
			if one < 0 {
				return Invalid(at, "must be one of %s", strings.Join(k.values, ", "))
			}
			v = k.values[one]
		}
		k.texts = append(k.texts, v)
	}
	return nil
}
