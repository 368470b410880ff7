package policy

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// exactly is the limit up to which a float64 holds every whole number exactly.
const exactly = 1 << 53

// A bound is a compiled rotaloom.options.v1.Range or Length of one field.
type bound struct {
	field protoreflect.FieldDescriptor
	// outside reports whether a value is out of bounds.
	outside  func(protoreflect.Value) bool
	required bool
	code     string
	status   int
	// message is the text of the fault, with placeholders for name and value.
	message string
	// max is the largest allowed number if the fault has details; otherwise nil.
	max *int64
}

// CheckRanges returns a fault for the first number of the request outside the range of its field,
// or for the first text that is too long for its field.
func (m *Method) CheckRanges(req proto.Message) error {
	return m.ranges.check(req, m.body)
}

// rangeChecks returns one check for each range and length of the fields of a message type.
func rangeChecks(desc protoreflect.MessageDescriptor) ([]check, error) {
	var checks []check
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		opts := fieldOptions(field)
		for _, r := range opts.GetRanges() {
			b, err := newRange(field, r)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", field.FullName(), err)
			}
			checks = append(checks, b.check)
		}
		if opts.GetLength() != nil {
			b, err := newLength(field, opts.GetLength())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", field.FullName(), err)
			}
			checks = append(checks, b.check)
		}
	}
	return checks, nil
}

func newRange(field protoreflect.FieldDescriptor, opts *optionsv1.Range) (*bound, error) {
	number, whole := numberReader(field)
	least, most := math.Inf(-1), math.Inf(1)
	if opts.Min != nil {
		least = opts.GetMin()
	}
	if opts.Max != nil {
		most = opts.GetMax()
	}
	switch {
	case number == nil:
		return nil, fmt.Errorf("has a range but holds no number")
	case opts.Min == nil && opts.Max == nil:
		return nil, fmt.Errorf("a range needs a min or a max")
	case !(least <= most): // Negated, so that NaN is rejected too.
		return nil, fmt.Errorf("a range has a min above its max")
	case whole && !exact(opts.Min) || whole && !exact(opts.Max):
		return nil, fmt.Errorf("a range of whole numbers has other bounds")
	case opts.GetCode() == "":
		return nil, fmt.Errorf("a range needs a code")
	case opts.GetRequired() && (!field.HasPresence() || strings.Contains(opts.GetMessage(), "{value}")):
		return nil, fmt.Errorf("a required range needs a field with presence, and its message must not show the value")
	case opts.GetShowDetails() && (!whole || opts.Max == nil):
		return nil, fmt.Errorf("a range without a whole max has no details")
	}
	b := newBound(field, opts.GetCode(), opts.GetStatus())
	b.required = opts.GetRequired()
	b.outside = func(v protoreflect.Value) bool {
		n := number(v)
		return !(n >= least && n <= most) || math.IsInf(n, 0)
	}
	b.message = RangeMessage(opts)
	if opts.GetShowDetails() {
		b.max = proto.Int64(int64(most))
	}
	return b, nil
}

// RangeMessage returns the error text of a range, with placeholders {name} and {value}.
func RangeMessage(opts *optionsv1.Range) string {
	text := "{name} must be from {min} to {max}."
	switch {
	case opts.GetMessage() != "":
		text = opts.GetMessage()
	case opts.Max == nil:
		text = "{name} must not be less than {min}."
	case opts.Min == nil:
		text = "{name} must not be more than {max}."
	}
	return strings.NewReplacer("{min}", decimal(opts.GetMin()), "{max}", decimal(opts.GetMax())).Replace(text)
}

func newLength(field protoreflect.FieldDescriptor, opts *optionsv1.Length) (*bound, error) {
	most := int(opts.GetMax())
	switch {
	case valueKind(field) != protoreflect.StringKind:
		return nil, fmt.Errorf("has a length but holds no text")
	case most < 1:
		return nil, fmt.Errorf("a length needs a max above 0")
	case opts.GetCode() == "":
		return nil, fmt.Errorf("a length needs a code")
	}
	b := newBound(field, opts.GetCode(), opts.GetStatus())
	// A text has at least as many bytes as characters.
	b.outside = func(v protoreflect.Value) bool {
		text := v.String()
		return len(text) > most && utf8.RuneCountInString(text) > most
	}
	b.message = LengthMessage(opts)
	return b, nil
}

// LengthMessage returns the error text of a length, with the placeholder {name}.
func LengthMessage(opts *optionsv1.Length) string {
	text := cmp.Or(opts.GetMessage(), "{name} must have at most {max} characters.")
	return strings.ReplaceAll(text, "{max}", strconv.Itoa(int(opts.GetMax())))
}

func newBound(field protoreflect.FieldDescriptor, code string, status int32) *bound {
	return &bound{field: field, code: code, status: cmp.Or(int(status), http.StatusBadRequest)}
}

func (b *bound) check(m protoreflect.Message) *failure {
	switch {
	case b.field.IsMap():
		return checkEntries(m, b.field, func(_ protoreflect.MapKey, v protoreflect.Value) *failure {
			if !b.outside(v) {
				return nil
			}
			return b.failure(v)
		})
	case b.field.IsList():
		list := m.Get(b.field).List()
		for i := range list.Len() {
			if v := list.Get(i); b.outside(v) {
				return b.failure(v).under(fmt.Sprintf("%s[%d]", b.field.JSONName(), i))
			}
		}
		return nil
	case b.field.HasPresence() && !m.Has(b.field):
		if !b.required {
			return nil
		}
	case !b.outside(m.Get(b.field)):
		return nil
	}
	return b.failure(m.Get(b.field)).under(b.field.JSONName())
}

func (b *bound) failure(v protoreflect.Value) *failure {
	return &failure{fault: func(path string) *fault.Error {
		e := fault.New(b.code, b.status, strings.NewReplacer("{name}", path, "{value}", fmt.Sprint(v.Interface())).Replace(b.message))
		if b.max != nil {
			return e.WithLimits(v.Int(), *b.max)
		}
		return e
	}}
}

// numberReader returns a function that reads the numbers of a field, or nil if the field holds no
// numbers, and whether they are whole numbers.
func numberReader(field protoreflect.FieldDescriptor) (number func(protoreflect.Value) float64, whole bool) {
	if field.IsMap() {
		return nil, false
	}
	switch field.Kind() {
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return func(v protoreflect.Value) float64 { return float64(v.Int()) }, true
	case protoreflect.DoubleKind:
		return protoreflect.Value.Float, false
	default:
		return nil, false
	}
}

// exact reports whether a bound is a whole number that a float64 represents uniquely.
func exact(bound *float64) bool {
	return bound == nil || *bound == math.Trunc(*bound) && math.Abs(*bound) < exactly
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
