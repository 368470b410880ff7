package attack

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/policy"
	_ "github.com/rotaloom/rotaloom/proto/contracts" // registers every contract
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// largest is the greatest size of a body that the server reads, in bytes.
const largest = 1 << 20

// httpOperation is an operation with one of its routes.
type httpOperation struct {
	name         string // of the rpc
	method, path string // the path as the contract writes it
	input        protoreflect.MessageDescriptor
	// body describes the body; nil when there is none.
	body   protoreflect.MessageDescriptor
	policy *policy.Method
	// file tells that the response can be a file instead of JSON.
	file bool
}

// calls returns all operations of the contracts that have routes, one for each route.
func calls(t *testing.T) []httpOperation {
	t.Helper()
	policies := policy.NewTable(nil)
	var all []httpOperation
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for k := range methods.Len() {
				m := methods.Get(k)
				if !proto.HasExtension(m.Options(), annotations.E_Http) {
					continue
				}
				p, err := policies.Method("/" + string(m.Parent().FullName()) + "/" + string(m.Name()))
				require.NoError(t, err)
				main := proto.GetExtension(m.Options(), annotations.E_Http).(*annotations.HttpRule)
				for _, rule := range append([]*annotations.HttpRule{main}, main.GetAdditionalBindings()...) {
					c := httpOperation{name: string(m.FullName()), input: m.Input(), policy: p, file: returnsFile(m)}
					c.method, c.path = verb(rule)
					switch body := rule.GetBody(); body {
					case "":
					case "*":
						c.body = m.Input()
					default:
						c.body = m.Input().Fields().ByName(protoreflect.Name(body)).Message()
					}
					all = append(all, c)
				}
			}
		}
		return true
	})
	slices.SortFunc(all, func(a, b httpOperation) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.method, b.method))
	})
	require.NotEmpty(t, all)
	return all
}

// returnsFile reports whether the response of a method can be a file, whose content goes out as it is.
func returnsFile(m protoreflect.MethodDescriptor) bool {
	message, _ := proto.GetExtension(m.Output().Options(), optionsv1.E_Message).(*optionsv1.Message)
	return message.GetRawField() != ""
}

func verb(rule *annotations.HttpRule) (method, path string) {
	for method, path := range map[string]string{
		"GET": rule.GetGet(), "POST": rule.GetPost(), "PUT": rule.GetPut(), "PATCH": rule.GetPatch(), "DELETE": rule.GetDelete(),
	} {
		if path != "" {
			return method, path
		}
	}
	return rule.GetCustom().GetKind(), rule.GetCustom().GetPath()
}

// list is a repeated field of messages somewhere below a body.
type list struct {
	// before and after are the JSON around an object that has the list.
	before, after string
	name          string // the property, or "" when the list is the body
	size          int    // of one empty item in memory, in bytes
	most          int    // greatest number of items that the contract accepts; 0 for any number
}

// largestList returns the list of a body that needs most memory for each byte, or false if the body
// has none. Its smallest item is {}.
func largestList(body protoreflect.MessageDescriptor) (list, bool) {
	var found []list
	seen := map[protoreflect.FullName]bool{}
	var visit func(m protoreflect.MessageDescriptor, before, after string)
	visit = func(m protoreflect.MessageDescriptor, before, after string) {
		if seen[m.FullName()] || m.ParentFile().Package() == "google.protobuf" {
			return
		}
		seen[m.FullName()] = true
		caps, _ := policy.Caps(m)
		bare := bareArray(m)
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			if f.Message() == nil || f.IsMap() || bare != "" && string(f.Name()) != bare {
				continue
			}
			name, open, end := f.JSONName(), `"`+f.JSONName()+`":`, ""
			if bare != "" {
				name, open = "", ""
			} else {
				open, end = "{"+open, "}"
			}
			if f.IsList() {
				found = append(found, list{before, after, name, messageSize(f.Message()), int(caps[f.Number()])})
				open, end = open+"[", "]"+end
			}
			visit(f.Message(), before+open, end+after)
		}
	}
	visit(body, "", "")
	if len(found) == 0 {
		return list{}, false
	}
	return slices.MaxFunc(found, func(a, b list) int { return cmp.Compare(a.size, b.size) }), true
}

func bareArray(m protoreflect.MessageDescriptor) string {
	return messageOptions(m).GetBareArray()
}

// messageSize returns the memory that an empty message takes.
func messageSize(m protoreflect.MessageDescriptor) int {
	t, err := protoregistry.GlobalTypes.FindMessageByName(m.FullName())
	if err != nil {
		return 0
	}
	return int(reflect.TypeOf(t.Zero().Interface()).Elem().Size())
}

// fillBody returns a body with about the given number of empty items, as long as a body may be.
// Items beyond a limit go to a second list of the same name. Spaces fill the rest.
func (l list) fillBody(items int) []byte {
	var b bytes.Buffer
	b.WriteString(l.before)
	chunk := items
	if l.name != "" {
		b.WriteString("{")
		if l.most > 0 {
			chunk = min(chunk, l.most)
		}
	}
	room := largest - len(l.before) - len(l.after) - 10
	for first := true; items > 0; first = false {
		n := min(chunk, items)
		if most := (room - b.Len() - len(l.name) - 8) / 3; n > most {
			n, items = most, 0
		}
		if n < 1 {
			break
		}
		if !first {
			b.WriteString(",")
		}
		if l.name != "" {
			b.WriteString(`"` + l.name + `":`)
		}
		b.WriteString("[" + strings.Repeat("{},", n-1) + "{}]")
		items -= n
	}
	if l.name != "" {
		b.WriteString("}")
	}
	b.WriteString(l.after)
	if missing := largest - b.Len(); missing > 0 {
		b.WriteString(strings.Repeat(" ", missing))
	}
	return b.Bytes()
}
