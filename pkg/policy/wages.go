package policy

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// The permissions for wages: callers without WagesRead get no wage fields, and callers without
// WagesWrite must not state wages.
const (
	WagesRead  = "commons.wage_work_rule.read"
	WagesWrite = "commons.wage_work_rule.write"
)

// WageRules are the rules of a method about wages.
type WageRules struct {
	// Needed means that callers need the permission to read wages.
	Needed bool
	// stated finds wages in requests, unless the method checks them itself; removed removes wages
	// from responses.
	stated, removed *plan
	body            string
}

// CheckStated returns the fault for a request that states wages, or nil.
func (w *WageRules) CheckStated(req proto.Message) error { return w.stated.check(req, w.body) }

// Shown reports whether responses may hold wages.
func (w *WageRules) Shown() bool { return w.removed != nil }

// Without returns a copy of a response without wages.
func (w *WageRules) Without(response proto.Message) (proto.Message, error) {
	// A response may contain already encoded parts as unknown fields; decoding the message again
	// turns them into fields.
	wire, err := proto.Marshal(response)
	if err != nil {
		return nil, fmt.Errorf("encode a response that has wages: %w", err)
	}
	out := response.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(wire, out); err != nil {
		return nil, fmt.Errorf("decode a response that has wages: %w", err)
	}
	return out, w.removed.check(out, "")
}

// wageRules compiles the rules of a method about wages.
func (m *Method) wageRules(needed, checksItself, parts bool) (rules WageRules, err error) {
	rules = WageRules{Needed: needed, body: m.body}
	if rules.removed, err = compile(m.Output, removeWages); err != nil {
		return rules, err
	}
	if rules.removed != nil && parts {
		return rules, fmt.Errorf("%s has wages and comes in parts", m.Output.FullName())
	}
	if !checksItself {
		rules.stated, err = compile(m.Input, findWages)
	}
	return rules, err
}

// Wages finds wages in messages of one type.
type Wages[M proto.Message] struct{ stated *plan }

// NewWages returns a Wages for methods that reject each item of a request separately. It panics if
// the type has no wages.
func NewWages[M proto.Message]() Wages[M] {
	var message M
	stated, err := compile(message.ProtoReflect().Descriptor(), findWages)
	if err != nil || stated == nil {
		panic(fmt.Sprintf("policy: %s has no wages: %v", message.ProtoReflect().Descriptor().FullName(), err))
	}
	return Wages[M]{stated}
}

// Refuse returns the fault for a message that states wages, or nil.
func (w Wages[M]) Refuse(m M) error { return w.stated.check(m, "") }

func wageFields(desc protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	var found []protoreflect.FieldDescriptor
	for i := range desc.Fields().Len() {
		if field := desc.Fields().Get(i); fieldOptions(field).GetWage() {
			found = append(found, field)
		}
	}
	return found
}

func findWages(desc protoreflect.MessageDescriptor) ([]check, error) {
	return onWages(desc, func(m protoreflect.Message, field protoreflect.FieldDescriptor) *failure {
		if !m.Has(field) {
			return nil
		}
		return &failure{path: field.JSONName(), fault: func(path string) *fault.Error {
			return fault.Forbidden(fault.CodeWages, fmt.Sprintf("%s: stating wages needs the permission %s.", path, WagesWrite))
		}}
	})
}

func removeWages(desc protoreflect.MessageDescriptor) ([]check, error) {
	return onWages(desc, func(m protoreflect.Message, field protoreflect.FieldDescriptor) *failure {
		m.Clear(field)
		return nil
	})
}

func onWages(desc protoreflect.MessageDescriptor, do func(protoreflect.Message, protoreflect.FieldDescriptor) *failure) ([]check, error) {
	fields := wageFields(desc)
	if len(fields) == 0 {
		return nil, nil
	}
	return []check{func(m protoreflect.Message) *failure {
		for _, field := range fields {
			if failed := do(m, field); failed != nil {
				return failed
			}
		}
		return nil
	}}, nil
}
