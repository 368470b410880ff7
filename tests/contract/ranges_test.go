package contract_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/policy"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	"github.com/rotaloom/rotaloom/tests/launch"
)

// testdata/ranges.txt pins the ranges and lengths, so that none is changed by mistake.
func TestRangesAreWrittenDown(t *testing.T) {
	t.Parallel()
	requirePinned(t, "testdata/ranges.txt", declaredRanges(t))
}

// Every range and length that a contract declares accepts its ends, and refuses values beyond them
// with its code, status and text. It also refuses values that are not numbers.
func TestRanges(t *testing.T) {
	t.Parallel()
	target := launch.Standalone(t, "--no-throttle", "--log-level", "error").Target(t)
	for _, r := range declaredRanges(t) {
		t.Run(r.String(), func(t *testing.T) {
			t.Parallel()
			for _, value := range r.good {
				a := r.ask(t, target, r.request(value))
				assert.False(t, a.ErrorCode == r.code && a.Message == r.refusal(value), "%.40v: %d %s", value, a.status, a.text)
				assert.NotEqual(t, http.StatusInternalServerError, a.status, "%.40v: %s", value, a.text)
			}
			for _, value := range r.bad {
				a := r.ask(t, target, r.request(value))
				assert.Equal(t, r.status, a.status, "%.40v: %s", value, a.text)
				assert.Equal(t, r.code, a.ErrorCode, "%.40v: %s", value, a.text)
				assert.Equal(t, r.refusal(value), a.Message, "%.40v", value)
			}
			if r.required {
				a := r.ask(t, target, r.without())
				assert.Equal(t, r.status, a.status, "%s", a.text)
				assert.Equal(t, r.code, a.ErrorCode, "%s", a.text)
				assert.Equal(t, r.refusal(nil), a.Message)
			}
			for _, value := range []any{"NaN", "Infinity", "-Infinity", "1e999", "", "x", []any{}, map[string]any{}, true} {
				a := r.ask(t, target, r.request(value))
				assert.Less(t, a.status, http.StatusInternalServerError, "%v: %s", value, a.text)
				if text, ok := value.(string); !r.text && (!ok || text != "") {
					assert.Equal(t, http.StatusBadRequest, a.status, "%v: %s", value, a.text)
				}
			}
		})
	}
}

// declaredRange is a range or a length of a field, with an operation that has the field.
type declaredRange struct {
	declaredLimit
	field     protoreflect.FieldDescriptor
	bounds    string
	text      bool
	required  bool
	message   string
	good, bad []any
	// others are required fields of the same message.
	others map[string]any
}

// String names the range as ranges.txt does.
func (r declaredRange) String() string {
	return fmt.Sprintf("%s %s %s %s %s %d", r.method, r.declaredLimit.path, r.name(), r.bounds, r.code, r.status)
}

// name returns the path of the field, without the "[]" of a body that is a bare array.
func (r declaredRange) name() string { return strings.TrimPrefix(r.fieldPath(), "[].") }

// fieldPath returns the path of the field.
func (r declaredRange) fieldPath() string {
	at := strings.Join(append(slices.Clone(r.below), r.field.JSONName()), ".")
	return strings.ReplaceAll(at, ".[]", "[]")
}

// refusal returns the error text for a value.
func (r declaredRange) refusal(value any) string {
	at := strings.ReplaceAll(r.fieldPath(), "[]", "[0]")
	switch {
	case r.field.IsMap():
		at += "." + mapKey
	case r.field.IsList():
		at += "[0]"
	}
	return strings.NewReplacer("{name}", at, "{value}", fmt.Sprint(value)).Replace(r.message)
}

// mapKey is the key of an entry of a map of localized texts.
const mapKey = "en_us"

// request returns the query or the body with a value of the field.
func (r declaredRange) request(value any) any {
	switch {
	case r.field.IsMap():
		value = map[string]any{mapKey: value}
	case r.field.IsList():
		value = []any{value}
	}
	values := maps.Clone(r.others)
	values[r.field.JSONName()] = value
	return r.at(values)
}

// without returns the query or the body without the field.
func (r declaredRange) without() any {
	values := maps.Clone(r.others)
	delete(values, r.field.JSONName())
	return r.at(values)
}

// at puts properties into the message that has the field.
func (r declaredRange) at(values map[string]any) any {
	if r.query {
		return values
	}
	return wrap(values, r.declaredLimit)
}

// declaredRanges walks the contracts.
func declaredRanges(t *testing.T) []declaredRange {
	t.Helper()
	var all []declaredRange
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for k := range methods.Len() {
				eachMessage(methods.Get(k), func(m protoreflect.MessageDescriptor, base declaredLimit, below []string) {
					base.below = below
					all = append(all, rangesOfMessage(m, base)...)
				})
			}
		}
		return true
	})
	slices.SortFunc(all, func(a, b declaredRange) int { return cmp.Compare(a.String(), b.String()) })
	require.NotEmpty(t, all)
	return all
}

func rangesOfMessage(m protoreflect.MessageDescriptor, base declaredLimit) []declaredRange {
	var found []declaredRange
	required := map[string]any{}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		options, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.Field)
		for k, o := range options.GetRanges() {
			r := declaredRange{declaredLimit: base, field: f, message: policy.RangeMessage(o), others: required, required: o.GetRequired()}
			r.code, r.status = o.GetCode(), cmp.Or(int(o.GetStatus()), http.StatusBadRequest)
			r.tryNumbers(o, options.GetRanges()[:k])
			found = append(found, r)
			if o.GetRequired() {
				required[f.JSONName()] = o.GetMin()
			}
		}
		if o := options.GetLength(); o != nil {
			most := int(o.GetMax())
			r := declaredRange{declaredLimit: base, field: f, message: policy.LengthMessage(o), others: required, text: true}
			r.code, r.status = o.GetCode(), cmp.Or(int(o.GetStatus()), http.StatusBadRequest)
			r.bounds = fmt.Sprintf("%d characters", most)
			r.good = []any{strings.Repeat("ö", most)}
			// A larger body is refused before its texts are read.
			r.bad = []any{strings.Repeat("ö", most+1), strings.Repeat("x", min(100*most, 900_000))}
			found = append(found, r)
		}
	}
	return found
}

// tryNumbers adds numbers that a range accepts, and numbers that it refuses. All of them are
// accepted by the ranges of the field before it.
func (r *declaredRange) tryNumbers(o *optionsv1.Range, before []*optionsv1.Range) {
	step := 1.0
	if r.field.Kind() == protoreflect.DoubleKind {
		step = 0.001
	}
	least, most := "", ""
	if o.Min != nil {
		least = strconv.FormatFloat(o.GetMin(), 'f', -1, 64)
		r.good, r.bad = append(r.good, o.GetMin()), append(r.bad, o.GetMin()-step, float64(math.MinInt32))
	}
	if o.Max != nil {
		most = strconv.FormatFloat(o.GetMax(), 'f', -1, 64)
		r.good = append(r.good, o.GetMax())
		if o.GetMax() < math.MaxInt32 {
			r.bad = append(r.bad, o.GetMax()+step, float64(math.MaxInt32))
		}
	} else {
		r.good = append(r.good, float64(math.MaxInt32))
	}
	r.bounds = least + ".." + most
	r.bad = slices.DeleteFunc(r.bad, func(v any) bool {
		return slices.ContainsFunc(before, func(o *optionsv1.Range) bool {
			return o.Min != nil && v.(float64) < o.GetMin() || o.Max != nil && v.(float64) > o.GetMax()
		})
	})
	if r.field.Kind() != protoreflect.DoubleKind {
		for _, list := range [][]any{r.good, r.bad} {
			for i := range list {
				list[i] = int64(list[i].(float64))
			}
		}
	}
}
