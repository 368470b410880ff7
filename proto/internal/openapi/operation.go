package openapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// maxQueryDepth is how deep query parameters of the edge can reach into messages.
const maxQueryDepth = 3

// Values of x-origin.
const (
	originReference = "reference"
	originOwn       = "own"
)

const (
	jsonType  = "application/json"
	linesType = "application/x-ndjson"
	formType  = "application/x-www-form-urlencoded"
)

// route is one HTTP rule of an rpc.
type route struct {
	method *protogen.Method
	policy *optionsv1.Method
	verb   string
	path   string // {name} for a parameter; a parameter with a single allowed word is that word
	word   string // that word, or ""
	number int    // among the rules of the rpc, from 0
	body   string // the field of the body, "*" for the whole request, or ""
	params map[string]bool
}

// routes returns the HTTP rules of an rpc, the main one first, or none for an rpc between services.
func routes(method *protogen.Method) ([]*route, error) {
	main, ok := proto.GetExtension(method.Desc.Options(), annotations.E_Http).(*annotations.HttpRule)
	if !ok || main == nil {
		return nil, nil
	}
	policy, err := methodOptions(method.Desc)
	if err != nil {
		return nil, err
	}
	var out []*route
	for i, rule := range append([]*annotations.HttpRule{main}, main.GetAdditionalBindings()...) {
		verb, path := verbAndPath(rule)
		if verb == "" {
			return nil, fmt.Errorf("%s has a route of a kind that is not described", method.Desc.FullName())
		}
		r := &route{method: method, policy: policy, verb: verb, number: i, body: rule.GetBody(), params: map[string]bool{}}
		r.parsePath(path)
		out = append(out, r)
	}
	return out, nil
}

func verbAndPath(rule *annotations.HttpRule) (verb, path string) {
	for verb, path := range map[string]string{
		http.MethodGet: rule.GetGet(), http.MethodPut: rule.GetPut(),
		http.MethodPost: rule.GetPost(), http.MethodDelete: rule.GetDelete(), http.MethodPatch: rule.GetPatch(),
	} {
		if path != "" {
			return verb, path
		}
	}
	return "", ""
}

func (r *route) parsePath(path string) {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		name, isParam := strings.CutPrefix(segment, "{")
		if !isParam {
			continue
		}
		name, word, isWord := strings.Cut(strings.TrimSuffix(name, "}"), "=")
		r.params[name] = !isWord
		if isWord {
			segments[i], r.word = word, word
		}
	}
	r.path = strings.Join(segments, "/")
}

// errorItems reports whether errors of the route are a list of items.
func (r *route) errorItems() bool {
	options, _ := proto.GetExtension(r.method.Desc.ParentFile().Options(), optionsv1.E_File).(*optionsv1.File)
	return options.GetErrorItems()
}

// operation describes a route.
func (g *generator) operation(r *route) *Operation {
	text := comment(r.method.Comments)
	summary, rest, _ := strings.Cut(text, ". ")
	o := &Operation{
		Tags:        []string{tagName(r.method.Parent)},
		Summary:     strings.TrimSuffix(summary, "."),
		Description: rest,
		OperationID: operationID(r),
		Deprecated:  r.method.Desc.Options().(*descriptorpb.MethodOptions).GetDeprecated(),
		Parameters:  g.parameters(r),
		RequestBody: g.requestBody(r),
		Method:      string(r.method.Desc.FullName()),
		Permission:  r.policy.GetPermission(),
		AccessPoint: r.policy.GetAccessPoint(),
		Throttle:    strings.ToLower(strings.TrimPrefix(r.policy.GetThrottle().String(), "THROTTLE_")),
		Origin:      originReference,
		limits:      requestLimits(r.method.Input, map[*protogen.Message]bool{}),
	}
	if r.policy.GetOwn() {
		o.Origin = originOwn
	}
	if r.policy.GetPublic() {
		o.Security = &[]Security{}
	}
	o.Responses = g.responses(r, o.limits)
	if note := itemFaults(r, o.Responses.Has(strconv.Itoa(http.StatusMultiStatus))); note != "" {
		o.Description = strings.TrimPrefix(o.Description+"\n\n"+note, "\n\n")
	}
	if r.policy.GetLines() {
		o.Description = strings.TrimPrefix(o.Description+"\n\n"+r.describeLines(o.Responses.Has(strconv.Itoa(http.StatusMultiStatus))), "\n\n")
	}
	o.Description = strings.TrimPrefix(o.Description+"\n\n"+r.describeAccess(o.limits), "\n\n")
	return o
}

// itemFaults says which faults refuse the whole request of an operation on several items, or returns "" for other
// operations. partly reports whether some items may fail while others succeed.
func itemFaults(r *route, partly bool) string {
	const form = " Malformed JSON, an unknown property and too many items always refuse the whole request."
	switch {
	case !partly || messageOptions(r.method.Output.Desc).GetFailure() == "":
		return ""
	case has(r.method.Input.Desc, "partial_success"):
		return "A fault of one item refuses the whole request, unless partial_success is true: then the other items are processed, and the " +
			"response is 207 with the outcome of each item." + form
	}
	return "A fault of one item does not refuse the others: the response is 207 with the outcome of each item." + form
}

// describeLines says how the response of a route becomes lines of JSON. partly reports whether some items may fail while
// others succeed.
func (r *route) describeLines(partly bool) string {
	text := "**Lines:** with `Accept: application/x-ndjson`, "
	if messageOptions(r.method.Output.Desc).GetBareArray() != "" {
		text += "each line of the response is one item of the array."
	} else {
		text += "each line of the response has the form of the whole, with one item of one of its lists. The last line has the other " +
			"properties and the empty lists."
	}
	if partly {
		text += " With status 207, each line has one entry of details.results in the form of the whole, and the last line has the rest of the error."
	}
	return text + " Other errors are JSON."
}

// operationID returns the name of the rpc, with a suffix for its additional routes: a word of the
// path, the version, or else their number.
func operationID(r *route) string {
	id := []rune(string(r.method.Desc.Name()))
	id[0] = unicode.ToLower(id[0])
	suffix := ""
	if r.word != "" {
		suffix = strings.ToUpper(r.word[:1]) + r.word[1:]
	}
	if version := strings.Split(r.path, "/")[1]; version != "v1" && strings.HasPrefix(version, "v") {
		suffix += strings.ToUpper(version)
	}
	if suffix == "" && r.number > 0 {
		suffix = strconv.Itoa(r.number + 1)
	}
	return string(id) + suffix
}

// tagName returns the name of a service with its domain: "Scheduling: shift template".
func tagName(service *protogen.Service) string {
	var words strings.Builder
	for i, letter := range strings.TrimSuffix(string(service.Desc.Name()), "Service") {
		if unicode.IsUpper(letter) && i > 0 {
			words.WriteByte(' ')
		}
		words.WriteRune(unicode.ToLower(letter))
	}
	return domainTitle(service) + ": " + words.String()
}

// domainTitle returns the domain of a service, as a title.
func domainTitle(service *protogen.Service) string {
	domain := strings.Split(string(service.Desc.FullName()), ".")[1]
	return strings.ToUpper(domain[:1]) + domain[1:]
}

func (g *generator) parameters(r *route) []*Parameter {
	var out []*Parameter
	for _, field := range r.method.Input.Fields {
		name := string(field.Desc.Name())
		if whole, ok := r.params[name]; ok && whole {
			schema := g.schemas.fieldSchema(field)
			text := schema.Description
			schema.Description = ""
			out = append(out, &Parameter{Name: name, In: "path", Required: true, Description: text, Schema: schema})
		}
	}
	out = append(out, r.headerParameters()...)
	if r.body == "*" {
		return out
	}
	return append(out, g.queryParameters(r, r.method.Input, "", 0)...)
}

// queryParameters returns the parameters for the fields that the edge reads from the query:
// scalars, including scalars of nested messages.
func (g *generator) queryParameters(r *route, m *protogen.Message, path string, depth int) []*Parameter {
	var out []*Parameter
	for _, field := range m.Fields {
		name := string(field.Desc.Name())
		if _, inPath := r.params[name]; depth == 0 && (inPath || name == r.body) {
			continue
		}
		if field.Message != nil {
			if !field.Desc.IsList() && !field.Desc.IsMap() && depth < maxQueryDepth && isOurs(field.Message) {
				out = append(out, g.queryParameters(r, field.Message, path+name+".", depth+1)...)
			}
			continue
		}
		schema := g.schemas.fieldSchema(field)
		p := &Parameter{
			Name: path + name, In: "query", Required: depth == 0 && isRequired(field.Desc), Description: schema.Description, Schema: schema,
		}
		schema.Description = ""
		if field.Desc.IsList() {
			together := false
			p.Style, p.Explode = "form", &together
		}
		out = append(out, p)
	}
	return out
}

// isOurs reports whether a message belongs to our contracts.
func isOurs(m *protogen.Message) bool {
	return strings.HasPrefix(string(m.Desc.FullName()), "rotaloom.")
}

func (g *generator) requestBody(r *route) *RequestBody {
	if r.body == "" {
		return nil
	}
	if file := uploadField(r.method.Input); file != nil {
		return g.uploadBody(r, file)
	}
	schema := g.bodySchema(r)
	mediaType := jsonType
	if r.policy.GetOauthErrors() {
		mediaType = formType
	}
	body := &RequestBody{
		Required: len(r.method.Input.Fields) > 0,
		Content:  map[string]Body{mediaType: {Schema: schema, Examples: g.examples.bodies(r)}},
	}
	return body
}

func (g *generator) bodySchema(r *route) *Schema {
	if r.body == "*" {
		return g.schemas.message(r.method.Input)
	}
	field := findField(r.method.Input, r.body)
	schema := g.schemas.fieldSchema(field)
	schema.Description = ""
	return schema
}

// has reports whether a message has a field with that name.
func has(desc protoreflect.MessageDescriptor, name protoreflect.Name) bool {
	return desc.Fields().ByName(name) != nil
}
