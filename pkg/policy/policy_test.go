package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
)

// contract has one request type with everything that options can say.
const contract = `
name: "policytest.proto" package: "rotaloom.policytest.v1" syntax: "proto3"
dependency: "rotaloom/options/v1/options.proto"
dependency: "rotaloom/common/v1/ref.proto"
dependency: "google/api/annotations.proto"
message_type {
  name: "Read"
  options { [rotaloom.options.v1.message] {
    limits { max: 100 code: "WFP-90001" show_details: true quantity: "employees * days"
             items: "employees" items: "refs" days: "range" from: "first" to: "last" }
    limits { max: 30 code: "WCO-112010" status: 400 days: "range" quantity: "days" }
    limits { max: 20 code: "WCO-112010" status: 400 from: "first" to: "last" quantity: "days" difference: true }
  } }
  field { name: "employees" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".rotaloom.common.v1.RefList" json_name: "employees" }
  field { name: "refs" number: 2 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".rotaloom.common.v1.Ref" json_name: "refs" }
  field { name: "range" number: 3 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".rotaloom.common.v1.DateRange" json_name: "dateRange" }
  field { name: "first" number: 4 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "first" }
  field { name: "last" number: 5 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "last" }
  field { name: "ids" number: 6 label: LABEL_REPEATED type: TYPE_INT64 json_name: "ids"
          options { [rotaloom.options.v1.field] { limit { max: 3 code: "WFP-90003" } } } }
  field { name: "shifts" number: 7 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".rotaloom.policytest.v1.Shift" json_name: "shifts" }
  field { name: "by_name" number: 8 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".rotaloom.policytest.v1.Read.ByNameEntry" json_name: "byName" }
  field { name: "days" number: 9 label: LABEL_REPEATED type: TYPE_STRING json_name: "days"
          options { [rotaloom.options.v1.field] { format: FORMAT_DATE } } }
  nested_type { name: "ByNameEntry" options { map_entry: true }
    field { name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "key" }
    field { name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".rotaloom.policytest.v1.Shift" json_name: "value" } }
}
message_type {
  name: "Shift"
  field { name: "start_at" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "startDateTime"
          options { [rotaloom.options.v1.field] { format: FORMAT_DATE_TIME } } }
  field { name: "clock" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "clock"
          options { [rotaloom.options.v1.field] { format: FORMAT_TIME } } }
  field { name: "parts" number: 3 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".rotaloom.policytest.v1.Shift" json_name: "parts" }
}
message_type {
  name: "Plain"
  field { name: "plain" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".rotaloom.policytest.v1.Plain" json_name: "plain" }
}
service {
  name: "Reads"
  method { name: "Read" input_type: ".rotaloom.policytest.v1.Read" output_type: ".rotaloom.policytest.v1.Plain"
    options { [rotaloom.options.v1.method] { permission: "test.thing.read" throttle: THROTTLE_BULK_READ success_status: 204 oauth_errors: true } } }
  method { name: "Change" input_type: ".rotaloom.policytest.v1.Read" output_type: ".rotaloom.policytest.v1.Plain"
    options { [google.api.http] { post: "/x" body: "range" } } }
  method { name: "Plain" input_type: ".rotaloom.policytest.v1.Plain" output_type: ".rotaloom.policytest.v1.Plain" }
}`

const (
	readMethod  = "/rotaloom.policytest.v1.Reads/Read"
	plainMethod = "/rotaloom.policytest.v1.Reads/Plain"
	readMessage = "rotaloom.policytest.v1.Read"
)

func method(t *testing.T, files *protoregistry.Files, name string) *policy.Method {
	t.Helper()
	m, err := policy.NewTable(files).Method(name)
	require.NoError(t, err)
	return m
}

func TestMethodReadsItsOptions(t *testing.T) {
	t.Parallel()
	table := policy.NewTable(policytest.Files(t, contract))
	m, err := table.Method(readMethod)
	require.NoError(t, err)
	assert.Equal(t, readMethod, m.Name)
	assert.Equal(t, "test.thing.read", m.Permission)
	assert.Equal(t, 204, m.SuccessStatus)
	assert.True(t, m.OAuthErrors)
	assert.True(t, m.Governed())

	again, err := table.Method(readMethod)
	require.NoError(t, err)
	assert.Same(t, m, again, "compiled once")

	plain, err := table.Method(plainMethod)
	require.NoError(t, err)
	assert.False(t, plain.Governed())
	assert.Equal(t, 200, plain.SuccessStatus)

	for _, unknown := range []string{"/rotaloom.policytest.v1.Reads/Nothing", "/" + readMessage, "", "/"} {
		t.Run(unknown, func(t *testing.T) {
			_, err := table.Method(unknown)
			assert.Error(t, err, unknown)
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	files := policytest.Files(t, contract)
	m := method(t, files, readMethod)
	ids := func(n int) string { return "ids: [" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	cases := []struct {
		name   string
		req    string
		code   string
		status int
		actual int64
	}{
		{"an empty request", ``, "", 0, 0},
		{"items at the limit", `employees { ` + ids(100) + ` }`, "", 0, 0},
		{"items over the limit", `employees { ` + ids(101) + ` }`, "WFP-90001", 413, 101},
		{"all lists of a RefList together", `employees { ` + ids(99) + ` qualifiers: "a" refs { id: 1 } }`, "WFP-90001", 413, 101},
		{"the items of all named fields together", `employees { ` + ids(100) + ` } refs { id: 1 }`, "WFP-90001", 413, 101},
		{"both ends of the range included", `employees { ` + ids(10) + ` } range { start_date: "2026-01-01" end_date: "2026-01-10" }`, "", 0, 0},
		{"one day more", `employees { ` + ids(10) + ` } range { start_date: "2026-01-01" end_date: "2026-01-11" }`, "WFP-90001", 413, 110},
		{"a leap day", `employees { ` + ids(10) + ` } range { start_date: "2028-02-20" end_date: "2028-03-01" }`, "WFP-90001", 413, 110},
		{"a range of one day", `employees { ` + ids(100) + ` } range { start_date: "2026-01-01" end_date: "2026-01-01" }`, "", 0, 0},
		{"a range that ends before its start", `employees { ` + ids(100) + ` } range { start_date: "2026-01-09" end_date: "2026-01-01" }`, "", 0, 0},
		{"a symbolic range", `employees { ` + ids(100) + ` } range { symbolic_period { id: 1 } }`, "", 0, 0},
		{"two date fields", `employees { ` + ids(10) + ` } first: "2026-01-01" last: "2026-01-11T10:00:00"`, "WFP-90001", 413, 110},
		{"the longer of two ranges", `employees { ` + ids(10) + ` } first: "2026-01-01" last: "2026-01-11" range { start_date: "2026-01-01" end_date: "2026-01-02" }`, "WFP-90001", 413, 110},
		{"days without items, at the limit", `range { start_date: "2026-01-01" end_date: "2026-01-30" }`, "", 0, 0},
		{"days without items, over the limit", `range { start_date: "2026-01-01" end_date: "2026-01-31" }`, "WCO-112010", 400, 31},
		{"dates that differ by the limit", `first: "2026-01-01" last: "2026-01-21"`, "", 0, 0},
		{"dates that differ by a day more", `first: "2026-01-01" last: "2026-01-22"`, "WCO-112010", 400, 21},
		{"dates far outside the calendar", `employees { ` + ids(100) + ` } range { start_date: "0001-01-01" end_date: "9999-12-31" }`, "WFP-90001", 413, 100 * 401768},
		{"a field at its limit", ids(3), "", 0, 0},
		{"a field over its limit", ids(4), "WFP-90003", 413, 4},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := m.CheckLimits(policytest.Message(t, files, readMessage, c.req))
			if c.code == "" {
				assert.NoError(t, err)
				return
			}
			f := fault.FromError(err)
			require.NotNil(t, f)
			assert.Equal(t, c.code, f.Code)
			assert.Equal(t, c.status, f.Status)
			assert.Contains(t, f.Message, fmt.Sprintf("request: %d, allowed: ", c.actual))
			if c.code != "WFP-90001" {
				assert.Nil(t, f.Details, "details only where the contract asks for them")
				return
			}
			require.Len(t, f.Details.GetLimits(), 1)
			assert.Equal(t, c.actual, f.Details.GetLimits()[0].GetActual())
			assert.EqualValues(t, 100, f.Details.GetLimits()[0].GetMaximum())
		})
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	files := policytest.Files(t, contract)
	m := method(t, files, readMethod)
	cases := []struct {
		name string
		req  string
		code string
		path string
	}{
		{"absent and empty texts", `range { start_date: "" } shifts { }`, "", ""},
		{"a date", `range { start_date: "2028-02-29" end_date: "3000-01-01" }`, "", ""},
		{"a date-time for a date", `range { end_date: "2026-01-01T00:00:00" }`, fault.CodeDate, "dateRange.endDate"},
		{"a day that does not exist", `range { start_date: "2026-02-29" }`, fault.CodeDate, "dateRange.startDate"},
		{"a date in a list", `days: "2026-01-01" days: "tomorrow"`, fault.CodeDate, "days[1]"},
		{"an empty date in a list", `days: ""`, fault.CodeDate, "days[0]"},
		{"date-times", `shifts { start_at: "2026-01-01T23:59:59" } shifts { start_at: "2026-01-01T00:00:00.123" }`, "", ""},
		{"a date for a date-time", `shifts { start_at: "2026-01-01" }`, fault.CodeDate, "shifts[0].startDateTime"},
		{"a date-time with a zone", `shifts { } shifts { start_at: "2026-01-01T00:00:00Z" }`, fault.CodeDate, "shifts[1].startDateTime"},
		{"times", `shifts { clock: "07:00" parts { clock: "23:59:59.5" } }`, "", ""},
		{"a time beyond the day", `shifts { parts { parts { clock: "24:00" } } }`, fault.CodeTime, "shifts[0].parts[0].parts[0].clock"},
		{"a value of a map", `by_name { key: "k" value { clock: "x" } }`, fault.CodeTime, "byName.k.clock"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := m.CheckFormats(policytest.Message(t, files, readMessage, c.req))
			if c.code == "" {
				assert.NoError(t, err)
				return
			}
			f := fault.FromError(err)
			require.NotNil(t, f)
			assert.Equal(t, c.code, f.Code)
			assert.Equal(t, 400, f.Status)
			assert.Contains(t, f.Message, " of "+c.path+" is not ")
		})
	}
}

// The error of a request is its first fault, and lists the following ones.
func TestAllFaultsOfARequestAreListed(t *testing.T) {
	t.Parallel()
	files := policytest.Files(t, contract)
	m := method(t, files, readMethod)
	list := func(req string) (paths []string) {
		f := fault.FromError(m.CheckFormats(policytest.Message(t, files, readMessage, req)))
		require.NotNil(t, f)
		for _, v := range f.Details.GetViolations() {
			paths = append(paths, v.GetPath())
		}
		assert.Equal(t, f.Message, f.Details.GetViolations()[0].GetMessage())
		return paths
	}
	assert.Equal(t, []string{"shifts[0].startDateTime", "shifts[0].parts[1].clock", "shifts[2].clock", "byName.a.clock", "byName.b.clock"},
		list(`shifts { start_at: "x" parts { } parts { clock: "y" } } shifts { } shifts { clock: "z" }
			by_name { key: "b" value { clock: "x" } } by_name { key: "a" value { clock: "x" } }`))
	assert.Len(t, list(strings.Repeat(`shifts { clock: "z" }`, 50)), fault.MaxViolations)
}

func TestPathsDoNotNameTheFieldOfTheBody(t *testing.T) {
	t.Parallel()
	files := policytest.Files(t, contract)
	m := method(t, files, "/rotaloom.policytest.v1.Reads/Change")
	for req, path := range map[string]string{
		`range { start_date: "x" }`: "startDate",
		`shifts { start_at: "x" }`:  "shifts[0].startDateTime",
	} {
		t.Run(req, func(t *testing.T) {
			err := m.CheckFormats(policytest.Message(t, files, readMessage, req))
			require.Error(t, err)
			assert.Contains(t, fault.FromError(err).Message, " of "+path+" is not ")
		})
	}
}

// Not parallel: allocations are counted for the whole process.
func TestMessagesWithoutOptionsCostNothing(t *testing.T) {
	files := policytest.Files(t, contract)
	m := method(t, files, plainMethod)
	req := policytest.Message(t, files, "rotaloom.policytest.v1.Plain", `plain { plain { } }`)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if m.CheckFormats(req) != nil || m.CheckLimits(req) != nil || m.CheckRanges(req) != nil {
			t.Error("refused")
		}
	}))
}

func TestAuditNamesEveryProblem(t *testing.T) {
	t.Parallel()
	const service = `name: "audit.proto" package: "rotaloom.audit.v1" syntax: "proto3"
		dependency: "rotaloom/options/v1/options.proto" dependency: "rotaloom/common/v1/ref.proto" dependency: "google/api/annotations.proto"
		message_type { name: "M" %s
		  field { name: "text" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "text" %s } }
		service { name: "S" method { name: "Do" input_type: ".rotaloom.audit.v1.M" output_type: ".rotaloom.audit.v1.M" %s } }`
	const route = `[google.api.http] { get: "/v1/x" }`
	const good = `options { ` + route + ` [rotaloom.options.v1.method] { permission: "test.thing.read" } }`
	const replaced = `options { [google.api.http] { put: "/v1/x" } [rotaloom.options.v1.method] { permission: "test.thing.write" } }`
	versioned := func(verb string) string {
		return `options { [google.api.http] { ` + verb + `: "/v1/x" } [rotaloom.options.v1.method] { permission: "test.thing.write" versioned: true } }`
	}
	pages := func(verb, more string) string {
		return `options { [google.api.http] { ` + verb + `: "/v1/x" } [rotaloom.options.v1.method] { permission: "test.thing.read" pages: true` + more + ` } }`
	}
	const cursors = `field { name: "before" number: 7 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "before" }
		field { name: "after" number: 8 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "after" }`
	const (
		number = `field { name: "version" number: 2 label: LABEL_OPTIONAL type: TYPE_INT64 json_name: "version" }`
		text   = `field { name: "version" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "version" }`
		small  = `field { name: "version" number: 2 label: LABEL_OPTIONAL type: TYPE_INT32 json_name: "version" }`
		list   = `field { name: "version" number: 2 label: LABEL_REPEATED type: TYPE_INT64 json_name: "version" }`
	)
	cases := []struct{ message, field, method, problem string }{
		{"", "", good, ""},
		{"", "", `options { [rotaloom.options.v1.method] { internal: true callers: "commons" } }`, ""},
		{"", "", `options { [rotaloom.options.v1.method] { internal: true } }`, "names no callers"},
		{"", "", `options { ` + route + ` [rotaloom.options.v1.method] { public: true callers: "commons" } }`, "all callers may call it"},
		{"", "", `options { ` + route + ` [rotaloom.options.v1.method] { authenticated: true } }`, ""},
		{"", "", `options { ` + route + ` [rotaloom.options.v1.method] { authenticated: true public: true } }`, "exclude one another"},
		{"", "", `options { [rotaloom.options.v1.method] { public: true } }`, "no route"},
		{"", "", `options { ` + route + ` }`, "no policy"},
		{"", "", `options { ` + route + ` [rotaloom.options.v1.method] { internal: true callers: "commons" } }`, "has a route"},
		{"", "", `options { [rotaloom.options.v1.method] { internal: true edge: true } }`, ""},
		{"", "", `options { ` + route + ` [rotaloom.options.v1.method] { authenticated: true edge: true } }`, "is not internal"},
		{"", "", `options { ` + route + ` [rotaloom.options.v1.method] { public: true permission: "test.thing.read" } }`, "exclude one another"},
		{"", "", `options { ` + route + ` [rotaloom.options.v1.method] { permission: "things" } }`, `permission "things"`},
		{"", "", `server_streaming: true ` + good, "streams"},
		{"", `options { [rotaloom.options.v1.field] { limit { max: 1 } } }`, good, "holds no items"},
		{`options { [rotaloom.options.v1.message] { limits { max: 1 items: "texts" } } }`, "", good, `no field "texts"`},
		{`options { [rotaloom.options.v1.message] { limits { max: 1 items: "text" } } }`, "", good, "text holds no items"},
		{`options { [rotaloom.options.v1.message] { limits { max: 1 days: "text" } } }`, "", good, "not a range"},
		{`options { [rotaloom.options.v1.message] { limits { max: 1 from: "text" } } }`, "", good, `no field ""`},
		{`options { [rotaloom.options.v1.message] { limits { max: 1 difference: true } } }`, "", good, "difference of dates names none"},
		{`options { [rotaloom.options.v1.message] { limits { items: "text" } } }`, "", good, "max above 0"},
		{`options { [rotaloom.options.v1.message] { limits { max: 1 } } }`, "", good, "counts nothing"},
		{`options { [rotaloom.options.v1.message] { limits { max: 1 code: "WRL-1" quantity: "texts" by_method: true } } }`, "", good, ""},
		{`options { [rotaloom.options.v1.message] { limits { max: 1 code: "WRL-1" by_method: true } } }`, "", good, "needs a quantity"},
		{`options { [rotaloom.options.v1.message] { limits { max: 1 items: "text" by_method: true } } }`, "", good, "the method enforces"},
		{"", `options { [rotaloom.options.v1.field] { limit { max: 1 by_method: true } } }`, good, "belongs to the message"},
		{"", "", versioned("get"), ""},
		{number, "", versioned("get"), ""},
		{text, "", versioned("delete"), ""},
		{number, "", replaced, "is not versioned"},
		{list, "", replaced, ""},
		{small, "", replaced, ""},
		{cursors, "", pages("get", ""), ""},
		{`field { name: "page" number: 9 label: LABEL_OPTIONAL type: TYPE_INT32 json_name: "page" }`, "", pages("get", ""), ""},
		{"", "", pages("get", ""), "neither the query parameter after nor page"},
		{cursors, "", pages(`body: "*" post`, ""), ""},
		{cursors, "", pages("post", ""), "is neither GET nor a POST with all values in its body"},
		{cursors, "", pages("get", " parts: true"), "its response may begin"},
		{`options { [rotaloom.options.v1.message] { bare_array: "text" } }`, "", good, "bare_array"},
		{`options { [rotaloom.options.v1.message] { failure: "nope" } }`, "", good, "failure"},
	}
	for _, c := range cases {
		t.Run(c.message, func(t *testing.T) {
			problems := policy.Audit(policytest.Files(t, fmt.Sprintf(service, c.message, c.field, c.method)))
			if c.problem == "" {
				assert.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1, c.problem)
			assert.Contains(t, problems[0], c.problem)
		})
	}
}

func BenchmarkCheckDateRange(b *testing.B) {
	files := policytest.Files(b, contract)
	m, err := policy.NewTable(files).Method(readMethod)
	require.NoError(b, err)
	req := policytest.Message(b, files, readMessage, `range { start_date: "2026-01-01" end_date: "2026-01-10" }`)
	for b.Loop() {
		if m.CheckFormats(req) != nil || m.CheckLimits(req) != nil || m.CheckRanges(req) != nil {
			b.Fatal("refused")
		}
	}
}
