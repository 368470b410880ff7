package policy

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// A plan holds the checks of messages of one type, and the nested messages with further checks.
// Messages without any check have no plan.
type plan struct {
	checks []check
	nested []nested
}

// A check examines the fields of one message.
type check func(m protoreflect.Message) *failure

type nested struct {
	field protoreflect.FieldDescriptor
	plan  *plan
}

// A failure is a broken rule. Its path is built only when a rule breaks.
type failure struct {
	path  string
	fault func(path string) *fault.Error
}

// checksOf returns the checks of one message type, from its options.
type checksOf func(desc protoreflect.MessageDescriptor) ([]check, error)

// check returns the fault of the first rule that the message breaks, with those of the other broken rules as its
// violations. A nil plan finds nothing. body is the JSON name of the field that holds the body of the HTTP request:
// callers do not know it, so paths omit it, and the name of the list that is a bare array in JSON.
func (p *plan) check(msg proto.Message, body string) error {
	if p == nil || p.walk(msg.ProtoReflect()) == nil {
		return nil
	}
	// Only a request that is refused pays for the search of all failures.
	var errs []error
	for _, failed := range p.appendFailures(nil, msg.ProtoReflect()) {
		errs = append(errs, failed.error(msg.ProtoReflect().Descriptor(), body))
	}
	return fault.Join(errs...)
}

// error returns the fault of a failure in a request.
func (f *failure) error(desc protoreflect.MessageDescriptor, body string) error {
	path := f.path
	if below, found := strings.CutPrefix(path, body+"."); found && body != "" {
		path, desc = below, desc.Fields().ByJSONName(body).Message()
	}
	if list := bareArray(desc); list != "" && strings.HasPrefix(path, list+"[") {
		path = path[len(list):]
	}
	bad := f.fault(path)
	if path != "" {
		bad = bad.WithMembers(path)
	}
	return bad
}

// bareArray returns the JSON name of the list that is the JSON of a message, or "".
func bareArray(desc protoreflect.MessageDescriptor) string {
	options, _ := proto.GetExtension(desc.Options(), optionsv1.E_Message).(*optionsv1.Message)
	if field := desc.Fields().ByName(protoreflect.Name(options.GetBareArray())); field != nil {
		return field.JSONName()
	}
	return ""
}

func (p *plan) walk(m protoreflect.Message) *failure {
	for _, check := range p.checks {
		if failed := check(m); failed != nil {
			return failed
		}
	}
	for _, n := range p.nested {
		if !m.Has(n.field) {
			continue
		}
		if failed := n.walk(m); failed != nil {
			return failed
		}
	}
	return nil
}

func (n nested) walk(m protoreflect.Message) *failure {
	if n.field.IsMap() {
		return checkEntries(m, n.field, func(_ protoreflect.MapKey, v protoreflect.Value) *failure { return n.plan.walk(v.Message()) })
	}
	v := m.Get(n.field)
	if n.field.IsList() {
		list := v.List()
		for i := range list.Len() {
			if failed := n.plan.walk(list.Get(i).Message()); failed != nil {
				return failed.under(n.field.JSONName() + "[" + strconv.Itoa(i) + "]")
			}
		}
		return nil
	}
	return n.plan.walk(v.Message()).under(n.field.JSONName())
}

// appendFailures appends the failures of a message to a list, in the order in which walk finds the first one, until the
// list has as many as a response shows. Of the items of a list of texts or numbers it takes the first failure.
func (p *plan) appendFailures(found []*failure, m protoreflect.Message) []*failure {
	for _, check := range p.checks {
		if failed := check(m); failed != nil && len(found) < fault.MaxViolations {
			found = append(found, failed)
		}
	}
	for _, n := range p.nested {
		if m.Has(n.field) {
			found = n.appendFailures(found, m.Get(n.field))
		}
	}
	return found
}

func (n nested) appendFailures(found []*failure, v protoreflect.Value) []*failure {
	add := func(step string, m protoreflect.Message) {
		if len(found) >= fault.MaxViolations {
			return
		}
		for _, failed := range n.plan.appendFailures(nil, m) {
			found = append(found, failed.under(step))
		}
	}
	name := n.field.JSONName()
	switch {
	case n.field.IsMap():
		entries := map[string]protoreflect.Message{}
		v.Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
			entries[key.String()] = value.Message()
			return true
		})
		for key, m := range fault.InOrder(entries) {
			add(name+"."+shortenKey(key), m)
		}
	case n.field.IsList():
		for i := range v.List().Len() {
			add(name+"["+strconv.Itoa(i)+"]", v.List().Get(i).Message())
		}
	default:
		add(name, v.Message())
	}
	return found
}

// checkEntries checks the entries of a map, and returns the failure with the smallest key, so that
// the same request always gets the same error.
func checkEntries(m protoreflect.Message, field protoreflect.FieldDescriptor, each func(protoreflect.MapKey, protoreflect.Value) *failure) *failure {
	var first *failure
	var at string
	m.Get(field).Map().Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
		if failed := each(key, v); failed != nil && (first == nil || key.String() < at) {
			first, at = failed, key.String()
		}
		return true
	})
	return first.under(field.JSONName() + "." + shortenKey(at))
}

// shortenKey bounds the part of a caller's key that a path repeats.
func shortenKey(key string) string {
	const most = 80
	if runes := []rune(key); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return key
}

// under prepends a step to the path of a failure.
func (f *failure) under(step string) *failure {
	switch {
	case f == nil:
		return nil
	case f.path == "":
		f.path = step
	default:
		f.path = step + "." + f.path
	}
	return f
}

// compile returns the plan of a message type and all nested types, or nil if there is nothing to
// check.
func compile(desc protoreflect.MessageDescriptor, of checksOf) (*plan, error) {
	return compileBelow(desc, of, func(protoreflect.FieldDescriptor) bool { return true })
}

// compileBelow is compile for a subset of the nested fields.
func compileBelow(desc protoreflect.MessageDescriptor, of checksOf, below func(protoreflect.FieldDescriptor) bool) (*plan, error) {
	c := &compiler{of: of, below: below, plans: map[protoreflect.FullName]*plan{}}
	p, err := c.add(desc)
	if err != nil {
		return nil, err
	}
	c.prune()
	if p.empty() {
		return nil, nil
	}
	return p, nil
}

type compiler struct {
	of    checksOf
	below func(protoreflect.FieldDescriptor) bool
	plans map[protoreflect.FullName]*plan
}

// add builds the plan of a type once. A type that contains itself refers to its unfinished plan.
func (c *compiler) add(desc protoreflect.MessageDescriptor) (*plan, error) {
	if p, ok := c.plans[desc.FullName()]; ok {
		return p, nil
	}
	p := &plan{}
	c.plans[desc.FullName()] = p
	checks, err := c.of(desc)
	if err != nil {
		return nil, err
	}
	p.checks = checks
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		below := messageBelow(field)
		if below == nil || !c.below(field) {
			continue
		}
		sub, err := c.add(below)
		if err != nil {
			return nil, err
		}
		p.nested = append(p.nested, nested{field: field, plan: sub})
	}
	return p, nil
}

// prune removes the branches without checks. Types may contain each other, so it repeats until
// nothing changes: a plan stays if it has a check, or reaches a plan that stays.
func (c *compiler) prune() {
	alive := map[*plan]bool{}
	for changed := true; changed; {
		changed = false
		for _, p := range c.plans {
			if alive[p] {
				continue
			}
			lives := len(p.checks) > 0
			for _, n := range p.nested {
				lives = lives || alive[n.plan]
			}
			if lives {
				alive[p], changed = true, true
			}
		}
	}
	for _, p := range c.plans {
		var kept []nested
		for _, n := range p.nested {
			if alive[n.plan] {
				kept = append(kept, n)
			}
		}
		p.nested = kept
	}
}

func (p *plan) empty() bool { return len(p.checks) == 0 && len(p.nested) == 0 }

// messageBelow returns the message type that a field holds, or nil.
func messageBelow(field protoreflect.FieldDescriptor) protoreflect.MessageDescriptor {
	if field.IsMap() {
		return field.MapValue().Message()
	}
	return field.Message()
}

// valueKind returns the kind of the values of a field: of its map, of its list, or of itself.
func valueKind(field protoreflect.FieldDescriptor) protoreflect.Kind {
	if field.IsMap() {
		return field.MapValue().Kind()
	}
	return field.Kind()
}
