package policy

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// A measure counts one factor of a request's size. It returns 1 for a factor that the message does
// not name, which therefore has no effect.
type measure func(m protoreflect.Message) int64

// A limit is a compiled rotaloom.options.v1.Limit.
type limit struct {
	max      int64
	code     string
	status   int
	details  bool
	quantity string
	// message is the text of the fault; "" means the usual one.
	message string
	// field is the JSON name of the field for the error path, for limits of a field.
	field string
	// counted holds the fields with counted items.
	counted []protoreflect.FieldDescriptor
	items   measure
	days    measure
	// byMethod means that the method enforces the limit.
	byMethod bool
}

// limitChecks returns one check for each limit of a message type and its fields.
func limitChecks(desc protoreflect.MessageDescriptor) ([]check, error) {
	limits, err := messageLimits(desc)
	if err != nil {
		return nil, err
	}
	var checks []check
	for _, l := range limits {
		if !l.byMethod {
			checks = append(checks, l.check)
		}
	}
	return checks, nil
}

// messageLimits returns the limits of a message type and its fields.
func messageLimits(desc protoreflect.MessageDescriptor) ([]*limit, error) {
	var limits []*limit
	for _, opts := range messageOptions(desc).GetLimits() {
		l, err := messageLimit(desc, opts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", desc.FullName(), err)
		}
		limits = append(limits, l)
	}
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		opts := fieldOptions(field).GetLimit()
		if opts == nil {
			continue
		}
		l, err := fieldLimit(field, opts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.FullName(), err)
		}
		limits = append(limits, l)
	}
	return limits, nil
}

func (l *limit) check(m protoreflect.Message) *failure {
	// The size of a message bounds the items, and the calendar bounds the days, so the product
	// stays far below the largest int64.
	items, days := l.items(m), l.days(m)
	if items*days <= l.max {
		return nil
	}
	failed := &failure{fault: func(string) *fault.Error { return l.fault(items, days) }}
	return failed.under(l.field)
}

func (l *limit) fault(items, days int64) *fault.Error {
	actual := items * days
	e := fault.OverLimit(l.code, l.status, l.quantity+" in the request", actual, l.max, fault.SplitRequest)
	if l.message != "" {
		text := strings.NewReplacer("{items}", strconv.FormatInt(items, 10), "{days}", strconv.FormatInt(days, 10),
			"{actual}", strconv.FormatInt(actual, 10), "{max}", strconv.FormatInt(l.max, 10)).Replace(l.message)
		e = fault.New(l.code, l.status, text).WithLimits(actual, l.max)
	}
	if !l.details {
		return e.WithDetails(nil)
	}
	return e
}

func fieldLimit(field protoreflect.FieldDescriptor, opts *optionsv1.Limit) (*limit, error) {
	if len(opts.GetItems()) > 0 || opts.GetDays() != "" || opts.GetFrom() != "" || opts.GetTo() != "" || opts.GetDifference() {
		return nil, fmt.Errorf("a field's limit names other fields; it belongs to the message")
	}
	if opts.GetByMethod() {
		return nil, fmt.Errorf("a limit that the method enforces belongs to the message")
	}
	l, err := newLimit(opts)
	if err != nil {
		return nil, err
	}
	count := countItems(field)
	if count == nil {
		return nil, fmt.Errorf("has a limit but holds no items")
	}
	l.items, l.days, l.field, l.counted = count, countOne, field.JSONName(), []protoreflect.FieldDescriptor{field}
	l.describe(fault.CodeItemLimit, field.JSONName())
	return l, nil
}

func messageLimit(desc protoreflect.MessageDescriptor, opts *optionsv1.Limit) (*limit, error) {
	l, err := newLimit(opts)
	if err != nil {
		return nil, err
	}
	if opts.GetByMethod() {
		return limitByMethod(l, opts)
	}
	if l.items, l.counted, err = countFields(desc, opts.GetItems()); err != nil {
		return nil, err
	}
	if l.days, err = countDays(desc, opts); err != nil {
		return nil, err
	}
	hasDays := opts.GetDays() != "" || opts.GetFrom() != ""
	if opts.GetDifference() && !hasDays {
		return nil, fmt.Errorf("a limit on the difference of dates names none")
	}
	switch items := strings.Join(opts.GetItems(), " + "); {
	case items != "" && hasDays:
		l.describe(fault.CodeProductLimit, items+" * days")
	case hasDays:
		l.describe(fault.CodeProductLimit, "days")
	case items != "":
		l.describe(fault.CodeItemLimit, items)
	default:
		return nil, fmt.Errorf("a limit counts nothing")
	}
	return l, nil
}

// limitByMethod completes a limit that the method enforces.
func limitByMethod(l *limit, opts *optionsv1.Limit) (*limit, error) {
	if len(opts.GetItems()) > 0 || opts.GetDays() != "" || opts.GetFrom() != "" || opts.GetTo() != "" || opts.GetDifference() || opts.GetShowDetails() {
		return nil, fmt.Errorf("the method enforces the limit, so the contract may set only its quantity, code, status, message and max")
	}
	if l.quantity == "" || l.code == "" {
		return nil, fmt.Errorf("a limit that the method enforces needs a quantity and a code")
	}
	l.byMethod, l.details = true, true
	return l, nil
}

func newLimit(opts *optionsv1.Limit) (*limit, error) {
	if opts.GetMax() < 1 {
		return nil, fmt.Errorf("a limit needs a max above 0")
	}
	l := &limit{
		max:      opts.GetMax(),
		code:     opts.GetCode(),
		status:   int(opts.GetStatus()),
		details:  opts.GetShowDetails(),
		quantity: opts.GetQuantity(),
		message:  opts.GetMessage(),
	}
	if l.status == 0 {
		l.status = http.StatusRequestEntityTooLarge
	}
	return l, nil
}

// describe sets the code and quantity that the contract left out.
func (l *limit) describe(code, quantity string) {
	if l.code == "" {
		l.code = code
	}
	if l.quantity == "" {
		l.quantity = quantity
	}
}

// countFields returns a measure that sums the items of the named fields, and these fields.
func countFields(desc protoreflect.MessageDescriptor, names []string) (measure, []protoreflect.FieldDescriptor, error) {
	if len(names) == 0 {
		return countOne, nil, nil
	}
	fields := make([]protoreflect.FieldDescriptor, len(names))
	counts := make([]measure, len(names))
	for i, name := range names {
		field, err := findField(desc, name)
		if err != nil {
			return nil, nil, err
		}
		if counts[i] = countItems(field); counts[i] == nil {
			return nil, nil, fmt.Errorf("%s holds no items", name)
		}
		fields[i] = field
	}
	return func(m protoreflect.Message) int64 {
		var sum int64
		for _, count := range counts {
			sum += count(m)
		}
		return max(sum, 1)
	}, fields, nil
}

// countItems returns a measure of the items of a repeated field, or of all lists of a RefList. It
// returns nil for fields that hold a single value.
func countItems(field protoreflect.FieldDescriptor) measure {
	switch {
	case field.IsMap():
		return func(m protoreflect.Message) int64 { return int64(m.Get(field).Map().Len()) }
	case field.IsList():
		return func(m protoreflect.Message) int64 {
			return int64(m.Get(field).List().Len()) + droppedItems(m, field.Number())
		}
	case field.Message() == nil:
		return nil
	}
	var lists []measure
	for i := range field.Message().Fields().Len() {
		if list := field.Message().Fields().Get(i); list.IsList() {
			lists = append(lists, countItems(list))
		}
	}
	if len(lists) == 0 {
		return nil
	}
	return func(m protoreflect.Message) int64 {
		if !m.Has(field) {
			return 0
		}
		var sum int64
		for _, count := range lists {
			sum += count(m.Get(field).Message())
		}
		return sum
	}
}

// countDays returns a measure of the days of a range. It includes both ends, unless the limit
// applies to their difference. A message may have two ways to state its days; the longer one
// counts.
func countDays(desc protoreflect.MessageDescriptor, opts *optionsv1.Limit) (measure, error) {
	days, between := measure(countOne), measure(countOne)
	var err error
	if opts.GetDays() != "" {
		if days, err = countDaysOfRange(desc, opts.GetDays()); err != nil {
			return nil, err
		}
	}
	if opts.GetFrom() != "" || opts.GetTo() != "" {
		if between, err = daysBetween(desc, opts.GetFrom(), opts.GetTo()); err != nil {
			return nil, err
		}
	}
	var less int64
	if opts.GetDifference() {
		less = 1
	}
	return func(m protoreflect.Message) int64 { return max(days(m)-less, between(m)-less, 1) }, nil
}

// countDaysOfRange counts the days of a field that holds a range of dates.
func countDaysOfRange(desc protoreflect.MessageDescriptor, name string) (measure, error) {
	field, err := findField(desc, name)
	if err != nil {
		return nil, err
	}
	if field.Message() == nil || field.IsList() || field.IsMap() {
		return nil, fmt.Errorf("%s is not a range of dates", name)
	}
	between, err := daysBetween(field.Message(), "start_date", "end_date")
	if err != nil {
		return nil, err
	}
	return func(m protoreflect.Message) int64 {
		if !m.Has(field) {
			return 1
		}
		return between(m.Get(field).Message())
	}, nil
}

func daysBetween(desc protoreflect.MessageDescriptor, from, to string) (measure, error) {
	first, err := findDate(desc, from)
	if err != nil {
		return nil, err
	}
	last, err := findDate(desc, to)
	if err != nil {
		return nil, err
	}
	return func(m protoreflect.Message) int64 {
		a, okFrom := day(m.Get(first).String())
		b, okTo := day(m.Get(last).String())
		if !okFrom || !okTo {
			return 1
		}
		return max(int64(b-a)+1, 1)
	}, nil
}

// day reads the date of a date or date-time, clamped to the supported calendar.
func day(text string) (civil.Date, bool) {
	const date = len("YYYY-MM-DD")
	if len(text) > date && text[date] == 'T' {
		text = text[:date]
	}
	d, err := civil.ParseDate(text)
	return d.Clamp(), err == nil
}

func findDate(desc protoreflect.MessageDescriptor, name string) (protoreflect.FieldDescriptor, error) {
	field, err := findField(desc, name)
	if err != nil {
		return nil, err
	}
	if field.Kind() != protoreflect.StringKind || field.IsList() {
		return nil, fmt.Errorf("%s is not a date", name)
	}
	return field, nil
}

func findField(desc protoreflect.MessageDescriptor, name string) (protoreflect.FieldDescriptor, error) {
	field := desc.Fields().ByName(protoreflect.Name(name))
	if field == nil {
		return nil, fmt.Errorf("%s has no field %q", desc.FullName(), name)
	}
	return field, nil
}

func countOne(protoreflect.Message) int64 { return 1 }

func messageOptions(desc protoreflect.MessageDescriptor) *optionsv1.Message {
	if !proto.HasExtension(desc.Options(), optionsv1.E_Message) {
		return nil
	}
	return proto.GetExtension(desc.Options(), optionsv1.E_Message).(*optionsv1.Message)
}
