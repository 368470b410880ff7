package record

import (
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// List is a list of a person, in its own table as a rule. Its columns are the fields of its elements in
// the API.
type List struct {
	// Path is the path of the list in requests. The body of the person contains a list without a table.
	Path, Table string
	// Keys is the number of leading columns that distinguish elements that may apply at the same
	// time. With 0, at most one element applies on a day.
	Keys    int
	Columns []Column
	// Undated reports that the elements have no dates and always apply. The others have an
	// effective date, which is included, and an expiration date, which is excluded.
	Undated bool

	effective, expiration protoreflect.FieldDescriptor
	// empty reports whether an element has an empty value. Such an element removes the values on
	// its days and is not stored. It is nil for lists without empty values.
	empty func(Element) bool
	// get returns the elements of a record, add appends one without values, and clear removes
	// all.
	get   func(*Record) []Element
	add   func(*Record) Element
	clear func(*Record)
}

// Element is an element of a list.
type Element = protoreflect.Message

// Lists returns the lists with a table and the list of full-time equivalents. They are created once and
// never modified.
var Lists = sync.OnceValue(func() []List {
	return []List{
		inMessage("personInformation.employmentStatusList", "employment_status", 0, "status=employment_status_name"),
		inMessage("personInformation.userAccountStatusList", "user_account_status", 0, "status=user_account_status_name"),
		inMessage("personInformation.badgeAssignments", "badge_assignment", 1, "badge_number"),
		inMessage("jobAssignment.primaryLaborAccounts", "primary_labor_account", 0,
			"organization_path", "labor_category_name", "path_criteria=org_path_by_criteria"),
		inMessage("jobAssignment.baseWageRates", "base_wage_rate", 0, "hourly_rate"),
		listOutsideMessage("jobAssignment.jobAssignmentDetails.payRuleName", "pay_rule_assignment", 0,
			func(r *Record) *[]*commonsv1.ExtensionPayRule { return &r.PayRules }, "pay_rule_name"),
		accrualProfiles(),
		fullTimeEquivalencies(),
		wageWorkRules(),
		inMessage("personInformation.accessAssignment.effectiveDatedTimeEntryMethods", "time_entry_method", 0,
			"time_entry_type_name", "activity_tracking_status=time_entry_activity_tracking_status"),
		inMessage("personInformation.personAccessAssignments", "person_access_assignment", 0, accessColumns()...),
		inMessage("gdapAssignments", "gdap_assignment", 2, "gdap_name", "role", "default_switch",
			"original_from_date=original_effective_date", "original_to_date=original_expiration_date"),
		inMessage("personInformation.customDataList", "custom_data", 1, "type_name=custom_data_type_name", "text"),
		inMessage("personInformation.customDateList", "custom_date", 1, "type_name=custom_date_type_name", "date"),
		inMessage("personInformation.emailAddresses", "email_address", 1,
			"contact_type_name", "address", "notification=has_email_notification_delivery"),
	}
})

// Tables returns the lists that have tables.
var Tables = sync.OnceValue(func() []List {
	return slices.DeleteFunc(slices.Clone(Lists()), func(l List) bool { return l.Table == "" })
})

func accessColumns() []string {
	columns := []string{
		"home_hyper_find_query_name", "manager_employee_group_name",
		"manager_employee_group_from=manager_employee_group_effective_date", "manager_employee_group_to=manager_employee_group_expiration_date",
	}
	for _, set := range []string{"manager", "professional", "emp_mgr"} {
		columns = append(columns, set+"_transfer_set_name="+set+"_transfer_organization_set_name",
			set+"_transfer_set_from="+set+"_transfer_organization_set_effective_date",
			set+"_transfer_set_to="+set+"_transfer_organization_set_expiration_date")
	}
	return columns
}

func wageWorkRules() List {
	l := listOutsideMessage("wageWorkRules", "wage_work_rule", 1,
		func(r *Record) *[]*commonsv1.WageWorkRule { return &r.WageRules },
		"organization_path=job.qualifier", "hourly_rate", "work_rule_name=work_rule.qualifier")
	l.empty = func(e Element) bool {
		rule := e.Interface().(*commonsv1.WageWorkRule)
		return rule.HourlyRate == nil && rule.GetWorkRule().GetQualifier() == ""
	}
	return l
}

// newList returns a list of messages. A column is the name of a field, or the column's own
// name, "=" and the path of the field.
func newList(path, table string, keys int, element protoreflect.MessageDescriptor, columns []string) List {
	l := List{
		Path: path, Table: table, Keys: keys,
		effective: element.Fields().ByName("effective_date"), expiration: element.Fields().ByName("expiration_date"),
	}
	for _, column := range columns {
		name, field, renamed := strings.Cut(column, "=")
		if !renamed {
			field = name
		}
		c := newColumn(element, name, field)
		c.Path = c.fields[0].JSONName()
		l.Columns = append(l.Columns, c)
	}
	if l.effective == nil {
		l.Undated = true
		// An empty text removes the value.
		value := l.Columns[keys]
		l.empty = func(e Element) bool { return value.IsText() && value.Text(e) == "" }
	}
	return l
}

// inMessage returns a list that is a field of the person, at a path of JSON names.
func inMessage(path, table string, keys int, columns ...string) List {
	var fields []protoreflect.FieldDescriptor
	message := (*commonsv1.Person)(nil).ProtoReflect().Descriptor()
	for name := range strings.SplitSeq(path, ".") {
		field := message.Fields().ByJSONName(name)
		fields, message = append(fields, field), field.Message()
	}
	at := Column{fields: fields}
	l := newList(path, table, keys, message, columns)
	l.get = func(r *Record) []Element {
		parent, field := at.parent(r.Message.ProtoReflect())
		if parent == nil {
			return nil
		}
		list := parent.Get(field).List()
		out := make([]Element, list.Len())
		for i := range out {
			out[i] = list.Get(i).Message()
		}
		return out
	}
	l.add = func(r *Record) Element {
		m := r.Message.ProtoReflect()
		for _, field := range fields[:len(fields)-1] {
			m = m.Mutable(field).Message()
		}
		return m.Mutable(fields[len(fields)-1]).List().AppendMutable().Message()
	}
	l.clear = func(r *Record) { at.Clear(r.Message.ProtoReflect()) }
	return l
}

// listOutsideMessage returns a list that is not a field of the person's message.
func listOutsideMessage[M proto.Message](path, table string, keys int, at func(*Record) *[]M, columns ...string) List {
	var none M
	l := newList(path, table, keys, none.ProtoReflect().Descriptor(), columns)
	l.get = func(r *Record) []Element {
		messages := *at(r)
		out := make([]Element, len(messages))
		for i, m := range messages {
			out[i] = m.ProtoReflect()
		}
		return out
	}
	l.add = func(r *Record) Element {
		m := none.ProtoReflect().New()
		*at(r) = append(*at(r), m.Interface().(M))
		return m
	}
	l.clear = func(r *Record) { *at(r) = nil }
	return l
}

// Elements returns the elements of a record. Changes to them change the record.
func (l List) Elements(r *Record) []Element { return l.get(r) }

// Clear removes all elements.
func (l List) Clear(r *Record) { l.clear(r) }

// Add adds an element from the database. values has one value for each column. The dates
// apply to dated lists only.
func (l List) Add(r *Record, effective, expiration string, values []any) error {
	e := l.add(r)
	for i, c := range l.Columns {
		if err := c.SetValue(e, values[i]); err != nil {
			return err
		}
	}
	if !l.Undated {
		l.SetDates(e, effective, expiration)
	}
	return nil
}

// Dates returns the dates of an element of a dated list.
func (l List) Dates(e Element) (effective, expiration string) {
	return e.Get(l.effective).String(), e.Get(l.expiration).String()
}

// SetDates sets the dates of an element of a dated list.
func (l List) SetDates(e Element, effective, expiration string) {
	e.Set(l.effective, protoreflect.ValueOfString(effective))
	e.Set(l.expiration, protoreflect.ValueOfString(expiration))
}

// Fingerprint returns a text that is the same for elements with equal values in the first n
// columns.
func (l List) Fingerprint(e Element, n int) string {
	var b strings.Builder
	for _, c := range l.Columns[:n] {
		b.WriteString(c.fingerprint(e))
		b.WriteByte(' ')
	}
	return b.String()
}
