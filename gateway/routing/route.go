// Package routing finds the operation of an HTTP request. The routes follow from the google.api.http rules of
// the contracts.
package routing

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Route is one HTTP rule of the contracts.
type Route struct {
	Method string // HTTP method
	Path   string // as the contract writes it, for the log
	Policy *policy.Method
	// Handle is the generated handler of the route.
	Handle   runtime.HandlerFunc
	params   []protoreflect.FieldDescriptor // path parameters, from left to right
	literals map[string]string              // path parameters with a fixed value, {name=word}
	query    map[string]queryField          // by all names that a caller can use
	// pageInBody is the field "after" of requests that have it in the body, if the operation has pages. It can
	// also be in the query, because the links of a response name the next page there. nil for all others.
	pageInBody protoreflect.FieldDescriptor
	// HasBody reports whether requests have a body, and EmptyBody whether that body has no properties.
	HasBody, EmptyBody bool
	// Raw writes responses that are not JSON; nil for all others.
	Raw *Raw
	// Upload describes requests that carry a file; nil for all others.
	Upload *Upload
}

// AddService adds the routes of a service. handlers are the generated handlers, in the order of the methods and
// of the rules of each method.
func (rt *Router) AddService(name string, handlers []runtime.HandlerFunc, policies *policy.Table) error {
	desc, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return fmt.Errorf("finding the contract of %s: %w", name, err)
	}
	service, ok := desc.(protoreflect.ServiceDescriptor)
	if !ok {
		return fmt.Errorf("%s is not a service", name)
	}
	return rt.AddMethods(service, handlers, policies)
}

// AddMethods is AddService for a service that is not registered by its name.
func (rt *Router) AddMethods(service protoreflect.ServiceDescriptor, handlers []runtime.HandlerFunc, policies *policy.Table) error {
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		for _, rule := range Rules(method) {
			if len(handlers) == 0 {
				return fmt.Errorf("%s has more routes than generated handlers", service.FullName())
			}
			if err := rt.addRule(method, rule, handlers[0], policies); err != nil {
				return fmt.Errorf("route of %s: %w", method.FullName(), err)
			}
			handlers = handlers[1:]
		}
	}
	if len(handlers) > 0 {
		return fmt.Errorf("%s has fewer routes than generated handlers", service.FullName())
	}
	return nil
}

// Rules returns the HTTP rules of a method, beginning with the main one.
func Rules(method protoreflect.MethodDescriptor) []*annotations.HttpRule {
	if !proto.HasExtension(method.Options(), annotations.E_Http) {
		return nil
	}
	main := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	return append([]*annotations.HttpRule{main}, main.GetAdditionalBindings()...)
}

func (rt *Router) addRule(method protoreflect.MethodDescriptor, rule *annotations.HttpRule, handle runtime.HandlerFunc, policies *policy.Table) error {
	if method.IsStreamingClient() || method.IsStreamingServer() {
		return fmt.Errorf("streams are not served over HTTP")
	}
	p, err := policies.Method(fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name()))
	if err != nil {
		return err
	}
	r := &Route{Policy: p, Handle: handle}
	if err := r.checkOutput(); err != nil {
		return err
	}
	r.Method, r.Path = MethodAndPath(rule)
	segments, err := r.parsePath(method.Input())
	if err != nil {
		return err
	}
	if err := r.parseBody(method.Input(), rule.GetBody()); err != nil {
		return err
	}
	if r.Upload, err = parseUpload(method.Input(), rule.GetBody()); err != nil {
		return err
	}
	return rt.add(segments, r)
}

// MethodAndPath returns the HTTP method and the path of a rule.
func MethodAndPath(rule *annotations.HttpRule) (method, path string) {
	switch {
	case rule.GetGet() != "":
		return http.MethodGet, rule.GetGet()
	case rule.GetPost() != "":
		return http.MethodPost, rule.GetPost()
	case rule.GetPut() != "":
		return http.MethodPut, rule.GetPut()
	case rule.GetDelete() != "":
		return http.MethodDelete, rule.GetDelete()
	case rule.GetPatch() != "":
		return http.MethodPatch, rule.GetPatch()
	}
	return rule.GetCustom().GetKind(), rule.GetCustom().GetPath()
}

// parsePath returns the segments of the path; "" stands for a parameter. A parameter is one whole segment and
// may have a fixed value ({name=word}); the contracts use no other form.
func (r *Route) parsePath(input protoreflect.MessageDescriptor) ([]string, error) {
	if !strings.HasPrefix(r.Path, "/") || strings.ContainsAny(r.Path, "*:") {
		return nil, fmt.Errorf("the path %q has an unsupported form", r.Path)
	}
	segments := strings.Split(r.Path[1:], "/")
	for i, s := range segments {
		name, isParam := strings.CutPrefix(s, "{")
		if !isParam {
			continue
		}
		name, word, isWord := strings.Cut(strings.TrimSuffix(name, "}"), "=")
		fd := input.Fields().ByName(protoreflect.Name(name))
		if fd == nil || fd.IsList() || fd.Message() != nil {
			return nil, fmt.Errorf("the path %q has a parameter that is not a scalar field of the request", r.Path)
		}
		if isWord {
			if r.literals == nil {
				r.literals = map[string]string{}
			}
			r.literals[name], segments[i] = word, word
			continue
		}
		r.params = append(r.params, fd)
		segments[i] = ""
	}
	return segments, nil
}

// parseBody determines which fields come from the body. The remaining fields come from the query.
func (r *Route) parseBody(input protoreflect.MessageDescriptor, body string) error {
	bound := map[protoreflect.Name]bool{}
	for _, p := range r.params {
		bound[p.Name()] = true
	}
	for name := range r.literals {
		bound[protoreflect.Name(name)] = true
	}
	switch body {
	case "":
	case "*":
		r.HasBody = true
		r.EmptyBody = input.Fields().Len() == len(r.params)+len(r.literals)
		if after := input.Fields().ByName("after"); after != nil && r.Policy.Pages {
			r.pageInBody = after
			r.query = map[string]queryField{"after": {"after", after}}
		}
		return nil
	default:
		fd := input.Fields().ByName(protoreflect.Name(body))
		if fd == nil || fd.IsList() || fd.Message() == nil {
			return fmt.Errorf("the body %q is not a message field of the request", body)
		}
		r.HasBody = true
		r.EmptyBody = fd.Message().Fields().Len() == 0
		bound[fd.Name()] = true
	}
	r.query = queryFields(input, bound)
	return nil
}

// PathValues returns the path parameters in the form that the generated code expects. A value that cannot be an
// id yields a 404.
func (r *Route) PathValues(values []string) (map[string]string, *fault.Error) {
	if len(r.params) == 0 && len(r.literals) == 0 {
		return nil, nil
	}
	params := make(map[string]string, len(values)+len(r.literals))
	maps.Copy(params, r.literals)
	for i, fd := range r.params {
		if !possible(fd, values[i]) {
			return nil, fault.NotFound(fault.CodeNotFound, fmt.Sprintf("There is no object with the %s %q.", fd.JSONName(), shortenText(values[i]))).
				WithMembers(fd.JSONName())
		}
		params[string(fd.Name())] = values[i]
	}
	return params, nil
}

// possible reports whether text can be the value of a path parameter. Zero is not a valid id; moreover, proto3
// omits zero, so that the body could replace it.
func possible(fd protoreflect.FieldDescriptor, text string) bool {
	if fd.Kind() == protoreflect.StringKind {
		return text != "" && validText(text) && policy.CheckFormat(fd, "", text) == nil
	}
	return text != "" && text[0] != '+' && parses(fd, text) && strings.Trim(text, "-0") != ""
}

func validText(text string) bool {
	return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0
}

// parses reports whether the generated code can parse text as the value of a field.
func parses(fd protoreflect.FieldDescriptor, text string) bool {
	var err error
	switch fd.Kind() {
	case protoreflect.BoolKind:
		_, err = strconv.ParseBool(text)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		_, err = strconv.ParseInt(text, 10, 32)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		_, err = strconv.ParseInt(text, 10, 64)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		_, err = strconv.ParseUint(text, 10, 32)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		_, err = strconv.ParseUint(text, 10, 64)
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		_, err = strconv.ParseFloat(text, 64)
	case protoreflect.EnumKind:
		return fd.Enum().Values().ByName(protoreflect.Name(text)) != nil
	case protoreflect.StringKind:
		return validText(text)
	default:
		return false
	}
	return err == nil
}

func shortenText(text string) string {
	const limit = 80
	if len(text) > limit {
		return text[:limit] + "..."
	}
	return text
}

// TakesKey reports whether the route honors an Idempotency-Key: it does if it writes and its response contains
// no secrets. Other routes ignore the key.
func (r *Route) TakesKey() bool {
	switch r.Policy.Throttle {
	case optionsv1.Throttle_THROTTLE_WRITE, optionsv1.Throttle_THROTTLE_BULK_WRITE:
	default:
		return false
	}
	return !r.Policy.Public && !r.Policy.OAuthErrors && !r.Policy.Confidential && r.Method != http.MethodGet
}
