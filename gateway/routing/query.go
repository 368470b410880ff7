package routing

import (
	"fmt"
	"net/url"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
)

// maxQueryDepth bounds the depth of message fields that query parameters can set.
const maxQueryDepth = 3

// queryField is a field that a query parameter can set.
type queryField struct {
	path string // in proto names, as the generated code expects it
	desc protoreflect.FieldDescriptor
}

// queryFields returns the fields of a request that come from the query, by JSON name and by proto name.
func queryFields(input protoreflect.MessageDescriptor, taken map[protoreflect.Name]bool) map[string]queryField {
	fields := map[string]queryField{}
	var add func(desc protoreflect.MessageDescriptor, path, jsonPath string, depth int)
	add = func(desc protoreflect.MessageDescriptor, path, jsonPath string, depth int) {
		for i := range desc.Fields().Len() {
			fd := desc.Fields().Get(i)
			if depth == 0 && taken[fd.Name()] {
				continue
			}
			name, jsonName := path+string(fd.Name()), jsonPath+fd.JSONName()
			if fd.Message() == nil {
				fields[name] = queryField{name, fd}
				fields[jsonName] = queryField{name, fd}
			} else if !fd.IsList() && !fd.IsMap() && depth < maxQueryDepth {
				add(fd.Message(), name+".", jsonName+".", depth+1)
			}
		}
	}
	add(input, "", "", 0)
	return fields
}

// QueryValues parses the query and returns its values by the names that the generated code expects. A list may
// be several parameters, or one with commas. Unknown parameters are ignored, because existing clients send some
// that an operation does not have. The error is the one of the first wrong parameter in the alphabet, and lists the
// others.
func (r *Route) QueryValues(raw string) (url.Values, *fault.Error) {
	if raw == "" {
		return nil, nil
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fault.Invalid(fault.CodeValue, "The query contains an invalid percent escape. Encode it as application/x-www-form-urlencoded.")
	}
	parsed := make(url.Values, len(values))
	var errs []error
	for name, texts := range fault.InOrder(values) {
		f, ok := r.query[name]
		if !ok {
			continue
		}
		if f.desc.IsList() {
			if texts = splitCommas(texts); len(texts) == 0 {
				continue // The generated code rejects a name without a value.
			}
		}
		if bad := f.check(name, texts, len(parsed[f.path])); bad != nil {
			errs = append(errs, bad.WithMembers(name))
			continue
		}
		parsed[f.path] = append(parsed[f.path], texts...)
	}
	if len(errs) > 0 {
		return nil, fault.FromError(fault.Join(errs...))
	}
	return parsed, nil
}

// check returns the fault of the values of a parameter, or nil. known is the number of values that the query has under
// another name of the field.
func (f queryField) check(name string, texts []string, known int) *fault.Error {
	if !f.desc.IsList() && len(texts)+known > 1 {
		return fault.Invalid(fault.CodeValue, fmt.Sprintf("The query parameter %q occurs more than once. Send it once.", name))
	}
	for _, text := range texts {
		if !parses(f.desc, text) {
			return fault.Invalid(fault.CodeValue, fmt.Sprintf("The query parameter %q cannot be %q.", name, shortenText(text)))
		}
		// Services check the format too, but know only the property's JSON name.
		if bad := policy.CheckFormat(f.desc, "the query parameter "+name, text); bad != nil {
			return bad
		}
	}
	return nil
}

// AppendPage appends the page that the query names to the fields of a body. It replaces the page in the body, so
// that clients can send the same body to the address of each page.
func (r *Route) AppendPage(fields []byte, query url.Values) []byte {
	if r.pageInBody == nil {
		return fields
	}
	for _, text := range query[string(r.pageInBody.Name())] {
		fields = protowire.AppendString(protowire.AppendTag(fields, r.pageInBody.Number(), protowire.BytesType), text)
	}
	return fields
}

func splitCommas(texts []string) []string {
	var all []string
	for _, text := range texts {
		for _, part := range strings.Split(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, part)
			}
		}
	}
	return all
}
