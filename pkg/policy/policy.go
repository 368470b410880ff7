// Package policy reads the options of operations in the contracts (rotaloom.options.v1), and checks
// requests against them. It reads and compiles the options once per method, so that a call pays
// only for its own rules.
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
	// Name is the full method name in gRPC's form, "/package.Service/Method".
	Name string
	// Permission is the permission that the caller needs, or "" for public and internal operations.
	Permission string
	// Public means that the operation needs no access token.
	Public bool
	// Authenticated means that every valid access token is sufficient.
	Authenticated bool
	// Internal means that only other services may call it.
	Internal bool
	// WithoutTenant means that services may call it without a tenant.
	WithoutTenant bool
	// Edge means that an edge may also call it for itself. Such an operation is Internal.
	Edge bool
	// Callers are the services that may call it without a user's permission.
	Callers []string
	// Throttle is the class of requests that share one rate.
	Throttle optionsv1.Throttle
	// SuccessStatus is the HTTP status of a success.
	SuccessStatus int
	// Parts means that the response may come in parts, which merge into it.
	Parts bool
	// Lines means that the response may be written as lines of JSON, one for each item of its lists.
	Lines bool
	// Confidential means that the request or the response holds secrets.
	Confidential bool
	// OAuthErrors means that errors have the form of RFC 6749.
	OAuthErrors bool
	// Pages means that the method reports the pages around the one in its response.
	Pages bool
	// ErrorItems means that errors are a list of items.
	ErrorItems bool
	// Versioned means that the operation concerns one object with a version.
	Versioned bool
	// Waits means that the method can wait for the work that it starts.
	Waits bool
	// AccessPoint is the reference product's name of the permission, or "".
	AccessPoint string
	// ForbiddenCode is the error code for a caller without the permission; "" means the common one.
	ForbiddenCode string
	// OwnActions are the operation's actions on the caller's own record. The caller's access
	// profile must permit each of them.
	OwnActions []string
	// Wages holds the operation's rules about wages.
	Wages WageRules
	// Input is the type of the request, Output the type of the response.
	Input, Output protoreflect.MessageDescriptor

	// body is the JSON name of the field that holds the body of the HTTP request, or "" if the
	// whole request is the body.
	body string
	// bodyField is that field, if it is a message.
	bodyField protoreflect.FieldDescriptor
	names     *plan
	formats   *plan
	limits    *plan
	ranges    *plan
}

// Governed reports whether the contract states who may call the method. Without that, every call is
// rejected.
func (m *Method) Governed() bool {
	return m.Public || m.Internal || m.Authenticated || m.Permission != ""
}

// CheckFormats returns a fault that names the first text of the request without the format (date,
// date-time or time) of its field. An empty text counts as absent.
func (m *Method) CheckFormats(req proto.Message) error {
	return m.formats.check(req, m.body)
}

// Table looks up the policies of methods. It is safe for concurrent use.
type Table struct {
	files   *protoregistry.Files
	methods sync.Map // full method name -> *Method
}

// NewTable returns a table of the given descriptors; nil means the generated code in the program.
func NewTable(files *protoregistry.Files) *Table {
	if files == nil {
		files = protoregistry.GlobalFiles
	}
	return &Table{files: files}
}

// Method returns the policy of a method by its full name in gRPC's form. It fails if the contract
// is invalid; the error is not for callers.
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
		ErrorItems:    fileOptions(desc.ParentFile()).GetErrorItems(),
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
		m.Lines = opts.GetLines()
		m.Confidential = opts.GetConfidential()
		m.Versioned = opts.GetVersioned()
		m.Pages = opts.GetPages()
		m.Waits = opts.GetWaits()
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

func fileOptions(desc protoreflect.FileDescriptor) *optionsv1.File {
	if !proto.HasExtension(desc.Options(), optionsv1.E_File) {
		return nil
	}
	return proto.GetExtension(desc.Options(), optionsv1.E_File).(*optionsv1.File)
}
