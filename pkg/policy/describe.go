package policy

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Operation is a route of the contracts, with the limits of its requests.
type Operation struct {
	// Route is method and path: "GET /v1/scheduling/schedule".
	Route    string
	Throttle optionsv1.Throttle
	Public   bool
	Limits   []Bound
}

// Bound is a limit, as shown to callers.
type Bound struct {
	// Counted describes the counted quantity: "employees * days".
	Counted string
	// Property is the path of the counted property; "" if the limit counts several.
	Property string
	Max      int64
	Code     string
	Status   int
}

// Operations returns the operations of the contracts with a route, in the order of their routes. It
// fails if a contract is invalid.
func (t *Table) Operations() ([]Operation, error) {
	var all []Operation
	var failed error
	t.files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				found, err := methodOperations(methods.Get(j))
				if err != nil {
					failed = err
					return false
				}
				all = append(all, found...)
			}
		}
		return true
	})
	slices.SortFunc(all, func(a, b Operation) int { return cmp.Compare(a.Route, b.Route) })
	return all, failed
}

func methodOperations(desc protoreflect.MethodDescriptor) ([]Operation, error) {
	opts := methodOptions(desc)
	if !proto.HasExtension(desc.Options(), annotations.E_Http) {
		return nil, nil
	}
	rule := proto.GetExtension(desc.Options(), annotations.E_Http).(*annotations.HttpRule)
	bounds, err := messageBounds(desc.Input(), bodyField(desc.Input(), rule.GetBody()))
	if err != nil {
		return nil, err
	}
	var out []Operation
	for _, r := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
		out = append(out, Operation{Route: ruleRoute(r), Throttle: opts.GetThrottle(), Public: opts.GetPublic(), Limits: bounds})
	}
	return out, nil
}

func ruleRoute(r *annotations.HttpRule) string {
	switch {
	case r.GetGet() != "":
		return http.MethodGet + " " + r.GetGet()
	case r.GetPost() != "":
		return http.MethodPost + " " + r.GetPost()
	case r.GetPut() != "":
		return http.MethodPut + " " + r.GetPut()
	case r.GetDelete() != "":
		return http.MethodDelete + " " + r.GetDelete()
	case r.GetPatch() != "":
		return http.MethodPatch + " " + r.GetPatch()
	}
	return r.GetCustom().GetKind() + " " + r.GetCustom().GetPath()
}

func bodyField(input protoreflect.MessageDescriptor, body string) string {
	if field := input.Fields().ByName(protoreflect.Name(body)); field != nil {
		return field.JSONName()
	}
	return ""
}

// messageBounds returns the limits of a message and of all messages nested in it, each at its first
// occurrence.
func messageBounds(desc protoreflect.MessageDescriptor, body string) ([]Bound, error) {
	var out []Bound
	seen := map[protoreflect.FullName]bool{}
	var visit func(desc protoreflect.MessageDescriptor, path string) error
	visit = func(desc protoreflect.MessageDescriptor, path string) error {
		if seen[desc.FullName()] {
			return nil
		}
		seen[desc.FullName()] = true
		limits, err := messageLimits(desc)
		if err != nil {
			return err
		}
		for _, l := range limits {
			b := Bound{Counted: l.quantity, Max: l.max, Code: l.code, Status: l.status}
			if l.field != "" {
				b.Property = strings.TrimPrefix(join(path, l.field), body+".")
			}
			out = append(out, b)
		}
		for i := range desc.Fields().Len() {
			field := desc.Fields().Get(i)
			if below := messageBelow(field); below != nil {
				if err := visit(below, join(path, field.JSONName())); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return out, visit(desc, "")
}

func join(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}
