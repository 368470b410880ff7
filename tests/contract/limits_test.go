package contract_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
)

var updateLimits = flag.Bool("update-limits", false, "write testdata/limits.txt and testdata/ranges.txt again")

// testdata/limits.txt pins the limits, so that none is changed by mistake.
func TestLimitsAreWrittenDown(t *testing.T) {
	t.Parallel()
	requirePinned(t, "testdata/limits.txt", declaredLimits(t))
}

// Every limit that a contract declares accepts requests at the limit, and refuses one more with its
// code, status and numbers. Limits that methods enforce themselves have contract cases of their
// own.
func TestLimits(t *testing.T) {
	t.Parallel()
	all := declaredLimits(t)
	target := launch.Standalone(t, "--no-throttle", "--log-level", "error").Target(t)
	for _, l := range all {
		if l.quantity != "" {
			continue
		}
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			at := l.send(t, target, 0)
			assert.False(t, at.status == l.status && at.ErrorCode == l.code, "at the limit: %d %s", at.status, at.text)
			assert.NotEqual(t, http.StatusInternalServerError, at.status, "%s", at.text)
			over := l.send(t, target, 1)
			assert.Equal(t, l.status, over.status, "%s", over.text)
			assert.Equal(t, l.code, over.ErrorCode, "%s", over.text)
			if l.details {
				require.Len(t, over.Details.Limits, 1, "%s", over.text)
				assert.Equal(t, []int64{l.max + 1, l.max}, []int64{over.Details.Limits[0].Actual, over.Details.Limits[0].Maximum})
			}
		})
	}
}

// declaredLimit is a limit where an operation meets it.
type declaredLimit struct {
	method, path string
	input        protoreflect.MessageDescriptor
	query        bool     // whether it bounds the query
	below        []string // properties that lead to the message; "[]" is an item of a list
	list         protoreflect.FieldDescriptor
	from, to     string // properties that bound the days, of the message or of dates
	difference   bool   // whether the days are the difference of the dates
	dates        string // the property that holds from and to, or ""
	quantity     string // the unit of a limit that the method enforces itself
	max          int64
	code         string
	status       int
	details      bool
}

// String names the limit as limits.txt does.
func (l declaredLimit) String() string {
	return fmt.Sprintf("%s %s %s %d %s %d", l.method, l.path, l.countedProperty(), l.max, l.code, l.status)
}

// countedProperty returns the property that the limit counts, with the properties that lead there.
func (l declaredLimit) countedProperty() string {
	counted := l.from + ".." + l.to
	switch {
	case l.quantity != "":
		counted = "(" + l.quantity + ")"
	case l.list != nil:
		counted = l.list.JSONName()
	}
	return strings.TrimPrefix(strings.ReplaceAll(strings.Join(append(slices.Clone(l.below), counted), "."), ".[]", "[]"), "[].")
}

// declaredLimits walks the contracts.
func declaredLimits(t *testing.T) []declaredLimit {
	t.Helper()
	var all []declaredLimit
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for k := range methods.Len() {
				all = append(all, limitsOfMethod(methods.Get(k))...)
			}
		}
		return true
	})
	slices.SortFunc(all, func(a, b declaredLimit) int { return cmp.Compare(a.String(), b.String()) })
	require.NotEmpty(t, all)
	return all
}

// limitsOfMethod returns the limits of an operation, each once.
func limitsOfMethod(m protoreflect.MethodDescriptor) []declaredLimit {
	var found []declaredLimit
	eachMessage(m, func(message protoreflect.MessageDescriptor, base declaredLimit, below []string) {
		found = append(found, limitsOfMessage(message, base, below)...)
	})
	return found
}

// eachMessage visits the messages that the JSON of a request has, each once, with the
// operation and the properties that lead there.
func eachMessage(m protoreflect.MethodDescriptor, visit func(m protoreflect.MessageDescriptor, base declaredLimit, below []string)) {
	rule, ok := proto.GetExtension(m.Options(), annotations.E_Http).(*annotations.HttpRule)
	if !ok || rule == nil {
		return
	}
	base := declaredLimit{input: m.Input()}
	for method, path := range map[string]string{
		"GET": rule.GetGet(), "POST": rule.GetPost(), "PUT": rule.GetPut(), "PATCH": rule.GetPatch(), "DELETE": rule.GetDelete(),
	} {
		if path != "" {
			base.method, base.path = method, path
		}
	}
	w := messageWalk{seen: map[protoreflect.FullName]bool{}, visit: visit}
	body := rule.GetBody()
	for i := range m.Input().Fields().Len() {
		if f := m.Input().Fields().Get(i); body != "*" && string(f.Name()) == body {
			w.message(f.Message(), base, nil)
		}
	}
	switch body {
	case "*":
		w.message(m.Input(), base, nil)
	case "":
		base.query = true
		w.message(m.Input(), base, nil)
	}
}

// messageWalk visits a message and all below it, each once.
type messageWalk struct {
	seen  map[protoreflect.FullName]bool
	visit func(m protoreflect.MessageDescriptor, base declaredLimit, below []string)
}

func (w *messageWalk) message(m protoreflect.MessageDescriptor, base declaredLimit, below []string) {
	if w.seen[m.FullName()] {
		return
	}
	w.seen[m.FullName()] = true
	w.visit(m, base, below)
	options, _ := proto.GetExtension(m.Options(), optionsv1.E_Message).(*optionsv1.Message)
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if f.Message() == nil || f.IsMap() {
			continue
		}
		step := []string{f.JSONName()}
		if options.GetBareArray() == string(f.Name()) {
			step = nil
		}
		if f.IsList() {
			step = append(step, "[]")
		}
		w.message(f.Message(), base, slices.Concat(below, step))
	}
}

// limitsOfMessage returns the limits of a message and of its fields.
func limitsOfMessage(m protoreflect.MessageDescriptor, base declaredLimit, below []string) []declaredLimit {
	var found []declaredLimit
	options, _ := proto.GetExtension(m.Options(), optionsv1.E_Message).(*optionsv1.Message)
	for _, o := range options.GetLimits() {
		l := declare(base, below, o, fault.CodeProductLimit)
		if o.GetByMethod() {
			l.quantity = o.GetQuantity()
			found = append(found, l)
			continue
		}
		field := func(name string) protoreflect.FieldDescriptor { return m.Fields().ByName(protoreflect.Name(name)) }
		switch {
		case len(o.GetItems()) > 0:
			l.list = field(o.GetItems()[0])
			if o.GetDays() == "" && o.GetFrom() == "" {
				l.code = cmp.Or(o.GetCode(), fault.CodeItemLimit)
			}
		case o.GetDays() != "":
			l.dates, l.from, l.to = field(o.GetDays()).JSONName(), "startDate", "endDate"
		default:
			l.from, l.to = field(o.GetFrom()).JSONName(), field(o.GetTo()).JSONName()
		}
		l.difference = o.GetDifference()
		found = append(found, l)
	}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if o, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.Field); o.GetLimit() != nil {
			l := declare(base, below, o.GetLimit(), fault.CodeItemLimit)
			l.list = f
			found = append(found, l)
		}
	}
	return found
}

func declare(base declaredLimit, below []string, o *optionsv1.Limit, code string) declaredLimit {
	base.below, base.max, base.details = below, o.GetMax(), o.GetShowDetails()
	base.code, base.status = cmp.Or(o.GetCode(), code), cmp.Or(int(o.GetStatus()), http.StatusRequestEntityTooLarge)
	return base
}

// outcome is the response to a request.
type outcome struct {
	status    int
	text      []byte
	ErrorCode string
	Message   string
	Details   struct {
		Limits []struct{ Actual, Maximum int64 }
	}
}

var inPath = regexp.MustCompile(`\{[^}]*\}`)

// send sends as many items as the limit accepts, plus a number of further ones.
func (l declaredLimit) send(t *testing.T, target contract.Target, more int64) outcome {
	t.Helper()
	values := l.counts(l.max + more)
	if l.query {
		return l.ask(t, target, values)
	}
	return l.ask(t, target, wrap(values, l))
}

// possibleID returns an id of a form that the path parameter accepts, of an object that does not exist.
func possibleID(parameter protoreflect.FieldDescriptor) string {
	if isGUID(parameter) {
		return unknownGUID
	}
	return "999999937"
}

// unknownGUID is the id of no object.
const unknownGUID = "00000000-0000-4000-8000-000999999937"

func isGUID(field protoreflect.FieldDescriptor) bool {
	if field == nil { // A word of the path: {name=word}.
		return false
	}
	options, _ := proto.GetExtension(field.Options(), optionsv1.E_Field).(*optionsv1.Field)
	return options.GetFormat() == optionsv1.Format_FORMAT_GUID
}

// body returns the JSON of the properties, or a form if the request carries a file, and its content type.
func (l declaredLimit) body(t *testing.T, sent any) (payload []byte, contentType string) {
	t.Helper()
	for i := range l.input.Fields().Len() {
		f := l.input.Fields().Get(i)
		if o, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.Field); o.GetUpload() == nil {
			continue
		}
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		for name, value := range sent.(map[string]any) {
			require.NoError(t, w.WriteField(name, fmt.Sprint(value)))
		}
		require.NoError(t, w.WriteField(f.JSONName(), "content"))
		require.NoError(t, w.Close())
		return form.Bytes(), w.FormDataContentType()
	}
	payload, err := json.Marshal(sent)
	require.NoError(t, err)
	return payload, "application/json"
}

// ask sends a body to the operation, or the properties of a query.
func (l declaredLimit) ask(t *testing.T, target contract.Target, sent any) (a outcome) {
	t.Helper()
	address := target.BaseURL + inPath.ReplaceAllStringFunc(l.path, func(name string) string {
		return possibleID(l.input.Fields().ByName(protoreflect.Name(strings.Trim(name, "{}"))))
	})
	var payload []byte
	contentType := "application/json"
	if l.query {
		query := url.Values{}
		for name, value := range sent.(map[string]any) {
			query.Set(name, strings.Trim(strings.ReplaceAll(fmt.Sprint(value), " ", ","), "[]"))
		}
		address += "?" + query.Encode()
	} else {
		payload, contentType = l.body(t, sent)
	}
	r, err := http.NewRequestWithContext(t.Context(), l.method, address, bytes.NewReader(payload))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+target.Token)
	r.Header.Set("Content-Type", contentType)
	response, err := target.Client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	a.status = response.StatusCode
	a.text, err = io.ReadAll(response.Body)
	require.NoError(t, err)
	_ = json.Unmarshal(a.text, &a) // A success may have any form.
	var items []struct {
		Code    string `json:"message_code"`
		Message string
	}
	if json.Unmarshal(a.text, &items) == nil && len(items) > 0 && a.ErrorCode == "" {
		a.ErrorCode, a.Message = items[0].Code, items[0].Message
	}
	a.text = a.text[:min(len(a.text), 500)]
	return a
}

// counts returns the properties with the given number of items, or days.
func (l declaredLimit) counts(n int64) map[string]any {
	if l.list == nil {
		first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if l.difference {
			n++
		}
		days := map[string]any{l.from: first.Format(time.DateOnly), l.to: first.AddDate(0, 0, int(n)-1).Format(time.DateOnly)}
		if l.dates != "" {
			return map[string]any{l.dates: days}
		}
		return days
	}
	if l.list.IsMap() {
		entries := map[string]any{}
		for i := range n { // Keys of localized texts.
			entries[fmt.Sprintf("%c%c_%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26, 'a'+i/17576%26)] = "x"
		}
		return map[string]any{l.list.JSONName(): entries}
	}
	if l.list.IsList() {
		return map[string]any{l.list.JSONName(): slices.Repeat([]any{validItem(l.list)}, int(n))}
	}
	return map[string]any{l.list.JSONName(): map[string]any{"ids": slices.Repeat([]any{1}, int(n))}}
}

// validItem returns an item that is valid alone.
func validItem(list protoreflect.FieldDescriptor) any {
	switch {
	case list.Message() != nil && list.Message().Fields().ByName("id") != nil && list.Message().Fields().ByName("id").Kind() == protoreflect.Int64Kind:
		return map[string]any{"id": 999999937}
	case list.Message() != nil:
		return map[string]any{}
	case isGUID(list):
		return unknownGUID
	case list.Kind() == protoreflect.StringKind:
		return "2026-01-01"
	}
	return 999999937
}

// wrap puts properties into the message that has the limit. A body that is a bare array has no
// name.
func wrap(values any, l declaredLimit) any {
	if object, ok := values.(map[string]any); ok && l.list != nil {
		options, _ := proto.GetExtension(l.list.Parent().Options(), optionsv1.E_Message).(*optionsv1.Message)
		if options.GetBareArray() == string(l.list.Name()) {
			values = object[l.list.JSONName()]
		}
	}
	for _, step := range slices.Backward(l.below) {
		if step == "[]" {
			values = []any{values}
		} else {
			values = map[string]any{step: values}
		}
	}
	return values
}

// requirePinned compares limits with those in a file.
func requirePinned[T fmt.Stringer](t *testing.T, file string, all []T) {
	t.Helper()
	var b strings.Builder
	for _, l := range all {
		b.WriteString(l.String() + "\n")
	}
	if *updateLimits {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	pinned, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(pinned), b.String(), "a limit was added or changed: run go test ./tests/contract -run AreWrittenDown -update-limits, and look at the difference")
}
