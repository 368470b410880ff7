// Package policy reads what a contract says about its operations (the options
// of rotaloom.options.v1) and holds requests to it. The options are read once
// per method and compiled, so that a call pays only for what concerns it.
package policy

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Method is the compiled policy of one operation. It is safe for concurrent
// use.
type Method struct {
	// Name is the full method name as gRPC writes it, "/package.Service/Method".
	Name string
	// Permission is what the caller needs, or "" for public and internal ones.
	Permission string
	// Public says that no access token is needed.
	Public bool
	// Authenticated says that every valid access token is good.
	Authenticated bool
	// Internal says that only other services may call it.
	Internal bool
	// WithoutTenant says that services may call it without a tenant.
	WithoutTenant bool
	// Edge says that an edge may call it for itself, too. It is Internal then.
	Edge bool
	// Callers are the services that may call it without a user's permission.
	Callers []string
	// Throttle is the class of requests that share one rate.
	Throttle optionsv1.Throttle
	// SuccessStatus is the HTTP status of a success.
	SuccessStatus int
	// Parts says that the response may come in parts, which merge into it.
	Parts bool
	// Confidential says that the request or the response holds secrets.
	Confidential bool
	// OAuthErrors says that errors are written as RFC 6749 asks.
	OAuthErrors bool
	// Versioned says that the operation is about one object that has a version.
	Versioned bool
	// AccessPoint is what the reference product calls the permission, or "".
	AccessPoint string
	// ForbiddenCode is the error code for a caller without the permission, or "" for
	// the one that all operations have.
	ForbiddenCode string
	// OwnActions are what callers may not do to their own record, unless their access
	// profile permits every one of them there.
	OwnActions []string
	// Wages says what the operation has to do with wages.
	Wages WageRules
	// Input describes the request, Output the response.
	Input, Output protoreflect.MessageDescriptor

	// body is the JSON name of the field that holds the body of the HTTP
	// request, or "" when the whole request is the body.
	body string
	// bodyField is that field, when it is a message.
	bodyField protoreflect.FieldDescriptor
	names     *plan
	formats   *plan
	limits    *plan
	ranges    *plan
}

// Governed reports whether the contract says who may call the method. One
// that is not governed may not be called by anybody.
func (m *Method) Governed() bool {
	return m.Public || m.Internal || m.Authenticated || m.Permission != ""
}

// CheckFormats returns a fault that names the first text of the request that
// does not have the form of a date, date-time or time that its field asks for.
// An empty text counts as absent.
func (m *Method) CheckFormats(req proto.Message) error {
	return m.formats.check(req, m.body)
}

// Table finds the policy of methods. It is safe for concurrent use.
type Table struct {
	files   *protoregistry.Files
	methods sync.Map // full method name -> *Method
}

// NewTable makes a table over the given descriptors; nil means those of the
// generated code that is linked into the program.
func NewTable(files *protoregistry.Files) *Table {
	if files == nil {
		files = protoregistry.GlobalFiles
	}
	return &Table{files: files}
}

// Method returns the policy of a method by its full name, as gRPC writes it.
// The error says what is wrong with the contract; it is not for callers.
func (t *Table) Method(fullMethod string) (*Method, error) {
	if m, ok := t.methods.Load(fullMethod); ok {
		return m.(*Method), nil
	}
	name := strings.Replace(strings.TrimPrefix(fullMethod, "/"), "/", ".", 1)
	found, err := t.files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil, fmt.Errorf("no descriptor of %s: %w", fullMethod, err)
	}
	desc, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is not a method", fullMethod)
	}
	m, err := compileMethod(desc)
	if err != nil {
		return nil, err
	}
	kept, _ := t.methods.LoadOrStore(fullMethod, m)
	return kept.(*Method), nil
}

func compileMethod(desc protoreflect.MethodDescriptor) (*Method, error) {
	m := &Method{
		Name:          fmt.Sprintf("/%s/%s", desc.Parent().FullName(), desc.Name()),
		SuccessStatus: http.StatusOK,
		Input:         desc.Input(),
		Output:        desc.Output(),
	}
	if opts := methodOptions(desc); opts != nil {
		m.Permission = opts.GetPermission()
		m.Public = opts.GetPublic()
		m.Authenticated = opts.GetAuthenticated()
		m.Internal = opts.GetInternal()
		m.WithoutTenant = opts.GetWithoutTenant()
		m.Edge = opts.GetEdge()
		m.Callers = opts.GetCallers()
		m.Throttle = opts.GetThrottle()
		m.Parts = opts.GetParts()
		m.Confidential = opts.GetConfidential()
		m.Versioned = opts.GetVersioned()
		m.OwnActions = opts.GetOwnRecord().GetActions()
		m.AccessPoint = opts.GetAccessPoint()
		m.ForbiddenCode = opts.GetForbiddenCode()
		m.OAuthErrors = opts.GetOauthErrors()
		if opts.GetSuccessStatus() != 0 {
			m.SuccessStatus = int(opts.GetSuccessStatus())
		}
	}
	if proto.HasExtension(desc.Options(), annotations.E_Http) {
		rule := proto.GetExtension(desc.Options(), annotations.E_Http).(*annotations.HttpRule)
		if field := desc.Input().Fields().ByName(protoreflect.Name(rule.GetBody())); field != nil {
			m.body = field.JSONName()
			if field.Message() != nil && !field.IsList() && !field.IsMap() {
				m.bodyField = field
			}
		}
	}
	var err error
	if m.names, err = compile(desc.Input(), nameChecks(!m.Public && m.Writes())); err != nil {
		return nil, fmt.Errorf("names of %s: %w", m.Name, err)
	}
	if m.formats, err = compileFormats(desc.Input()); err != nil {
		return nil, fmt.Errorf("formats of %s: %w", m.Name, err)
	}
	if m.limits, err = compile(desc.Input(), limitChecks); err != nil {
		return nil, fmt.Errorf("limits of %s: %w", m.Name, err)
	}
	if m.ranges, err = compile(desc.Input(), rangeChecks); err != nil {
		return nil, fmt.Errorf("ranges of %s: %w", m.Name, err)
	}
	wages := methodOptions(desc).GetWages()
	if m.Wages, err = m.wageRules(wages.GetNeeded(), wages.GetByItem() || wages.GetAllowed() != "", m.Parts); err != nil {
		return nil, fmt.Errorf("wages of %s: %w", m.Name, err)
	}
	return m, nil
}

func methodOptions(desc protoreflect.MethodDescriptor) *optionsv1.Method {
	if !proto.HasExtension(desc.Options(), optionsv1.E_Method) {
		return nil
	}
	return proto.GetExtension(desc.Options(), optionsv1.E_Method).(*optionsv1.Method)
}
