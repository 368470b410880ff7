package query

import "slices"

// operator is the comparison of a condition. Negated operators in requests become negated
// nodes, and EQUAL_TO is IN with one value.
type operator string

const (
	in         operator = "IN"
	startsWith operator = "STARTS_WITH"
	like       operator = "LIKE"
	less       operator = "LESS_THAN"
	lessEqual  operator = "LESS_THAN_OR_EQUAL_TO"
	more       operator = "GREATER_THAN"
	moreEqual  operator = "GREATER_THAN_OR_EQUAL_TO"
	between    operator = "BETWEEN"
	isNotNull  operator = "IS_NOT_NULL"
)

// operators maps the operators of requests to operators here, and to their negation.
func operators() map[string]struct {
	operator
	negated bool
} {
	return map[string]struct {
		operator
		negated bool
	}{
		"EQUAL_TO": {in, false}, "NOT_EQUAL_TO": {in, true}, "IN": {in, false}, "NOT_IN": {in, true},
		"STARTS_WITH": {startsWith, false}, "NOT_STARTS": {startsWith, true},
		"LIKE": {like, false}, "NOT_LIKE": {like, true},
		"LESS_THAN": {less, false}, "LESS_THAN_OR_EQUAL_TO": {lessEqual, false},
		"GREATER_THAN": {more, false}, "GREATER_THAN_OR_EQUAL_TO": {moreEqual, false},
		"BETWEEN": {between, false}, "NOT_BETWEEN": {between, true},
		"IS_NULL": {isNotNull, true}, "IS_NOT_NULL": {isNotNull, false},
	}
}

// kind is the kind of value that a key compares.
type kind int

const (
	// text is an undated text of the person.
	text kind = iota
	// date is a date of the person.
	date
	// datedText is a dated text.
	datedText
	// customText and customDate are the person's values of a named type.
	customText
	customDate
	// reference is an object with an id and a name.
	reference
)

// key is a property for conditions, and the place of its values.
type key struct {
	name string
	kind kind
	// table and column hold the value; empty for references.
	table, column string
	// folded reports that the column holds the text in lower case.
	folded bool
	// prefix is the pair of operators that find texts by their beginning with an index: in byte
	// order of a column with the collation C, or with a pattern operator class.
	prefix string
	// values are the possible values, or nil if all texts are possible.
	values []string
	// optional reports that an empty text stands for a missing value.
	optional bool
}

// Operators that find a text by its beginning.
const (
	byCollation = ">= <"
	byPattern   = "~>=~ ~<~"
)

// Keys returns all properties for conditions.
func Keys() []key {
	statuses := []string{"Active", "Inactive", terminated}
	return []key{
		{name: keyNumber, kind: text, table: "person", column: "person_number", prefix: byPattern},
		{name: "FIRST_NAME", kind: text, table: "person", column: "first_name_key", folded: true, prefix: byCollation},
		{name: "LAST_NAME", kind: text, table: "person", column: "last_name_key", folded: true, prefix: byCollation},
		{name: "FULL_NAME", kind: text, table: "person", column: "full_name_key", folded: true, prefix: byCollation},
		{name: "WORKER_TYPE", kind: text, table: "person", column: "worker_type_name", optional: true},
		{name: "HIRE_DATE", kind: date, table: "person", column: "hire_date"},
		{name: KeyStatus, kind: datedText, table: "employment_status", column: "status", values: statuses},
		{name: "USER_ACCOUNT_STATUS", kind: datedText, table: "user_account_status", column: "status", values: statuses},
		{name: "PAY_RULE", kind: datedText, table: "pay_rule_assignment", column: "pay_rule_name"},
		{name: "BADGE", kind: datedText, table: "badge_assignment", column: "badge_number"},
		{name: "ORGANIZATION_PATH", kind: datedText, table: "primary_labor_account", column: "organization_path", prefix: byPattern},
		{name: "CUSTOM_FIELD", kind: customText, table: "custom_data", column: "text", prefix: byPattern},
		{name: "CUSTOM_DATE", kind: customDate, table: "custom_date", column: "date"},
		{name: KeyLocation, kind: reference},
		{name: KeyJob, kind: reference},
		{name: KeyTerm, kind: reference},
		{name: KeyManager, kind: reference},
		{name: KeyScheduled, kind: reference},
		{name: KeyScheduledJob, kind: reference},
		{name: KeyScheduledLocation, kind: reference},
		{name: KeyHyperfind, kind: reference},
	}
}

// Names of keys with special treatment: first the keys for texts, then the keys for
// references.
const (
	keyNumber = "PERSON_NUMBER"
	KeyStatus = "EMPLOYMENT_STATUS"

	KeyLocation = "LOCATION"
	KeyJob      = "JOB"
	KeyTerm     = "EMPLOYMENT_TERM"
	KeyManager  = "MANAGER"

	KeyScheduled         = "SCHEDULED"
	KeyScheduledJob      = "SCHEDULED_JOB"
	KeyScheduledLocation = "SCHEDULED_LOCATION"

	// KeyHyperfind is the key for the persons of other queries.
	KeyHyperfind = "HYPERFIND"
)

func keyNamed(name string) (key, bool) {
	all := Keys()
	i := slices.IndexFunc(all, func(k key) bool { return k.name == name })
	if i < 0 {
		return key{}, false
	}
	return all[i], true
}

// terminated is the employment status after the end of the employment.
const terminated = "Terminated"

// operators returns the operators of the key.
func (k *key) operators() []operator {
	switch {
	case k.name == KeyScheduled:
		return []operator{isNotNull}
	case k.name == KeyScheduledLocation, k.name == KeyHyperfind:
		return []operator{in}
	case k.kind == date || k.kind == customDate:
		return []operator{in, less, lessEqual, more, moreEqual, between, isNotNull}
	case k.name == keyNumber:
		return []operator{in, startsWith, like, between, isNotNull}
	case k.prefix != "":
		return []operator{in, startsWith, like, isNotNull}
	case k.kind != reference:
		return []operator{in, like, isNotNull}
	default:
		return []operator{in, isNotNull}
	}
}
