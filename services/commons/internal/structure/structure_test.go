package structure_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, given, code string }{
		{"a letter", "a", ""},
		{"as many characters as may be", strings.Repeat("é", structure.MaxName), ""},
		{"one more", strings.Repeat("é", structure.MaxName+1), structure.CodeValue},
		{"nothing", "", structure.CodeMissing},
		{"spaces alone", " \t", structure.CodeMissing},
		{"a space before", " a", structure.CodeValue},
		{"a line break behind", "a\n", structure.CodeValue},
		{"a control character within", "a\x7fb", structure.CodeValue},
		{"a space within", "a b", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			faulttest.RequireCode(t, c.code, structure.CheckName("name", c.given))
		})
	}
}

func TestContexts(t *testing.T) {
	t.Parallel()
	for text, message := range map[string]string{
		"ORG":      "",
		"FORECAST": "",
		"":         "WCO-103006: where.context is missing. It must be ORG or FORECAST.",
		"TREE":     "WRL-10203: where.context must be ORG or FORECAST.",
	} {
		t.Run("context "+text, func(t *testing.T) {
			t.Parallel()
			err := structure.CheckContext("where.context", text)
			if message == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, message)
		})
	}
}

func TestDaysOfThings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, effective, expiration, code string
		want                              string // "" if the code is expected
	}{
		{"neither date", "", "", "", "1900-01-01 3000-01-01"},
		{"one day", "2026-03-01", "2026-03-02", "", "2026-03-01 2026-03-02"},
		{"until a day", "", "1900-01-02", "", "1900-01-01 1900-01-02"},
		{"from the last day on", "2999-12-31", "", "", "2999-12-31 3000-01-01"},
		{"beyond both ends of the calendar", "1700-01-01", "9999-12-31", "", "1900-01-01 3000-01-01"},
		{"the same date twice", "2026-03-01", "2026-03-01", structure.CodeExpiry, ""},
		{"the end before the beginning", "2026-03-02", "2026-03-01", structure.CodeExpiry, ""},
		{"an end before the calendar", "", "1899-12-31", structure.CodeExpiry, ""},
		{"a beginning after the calendar", "3500-01-01", "", structure.CodeExpiry, ""},
		{"a beginning that is no day", "2026-02-29", "", fault.CodeDate, ""},
		{"an end that is no day", "", "2026-3-1", fault.CodeDate, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			days, err := structure.Days(c.effective, c.expiration)
			faulttest.RequireCode(t, c.code, err)
			if c.code == "" {
				assert.Equal(t, c.want, days.From.String()+" "+days.To.String())
			}
		})
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, first, last, code string
		days                    int
	}{
		{"one day", "2026-03-01", "2026-03-01", "", 1},
		{"over a leap day", "2028-02-28", "2028-03-01", "", 3},
		{"backwards", "2026-03-02", "2026-03-01", structure.CodeRange, 0},
		{"no first day", "", "2026-03-01", structure.CodeNoDate, 0},
		{"no last day", "2026-03-01", "", structure.CodeNoDate, 0},
		{"a last day that is not", "2026-03-01", "2026-03-32", fault.CodeDate, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			days, err := structure.Span("span", c.first, c.last)
			faulttest.RequireCode(t, c.code, err)
			assert.Equal(t, c.days, days.Days())
		})
	}
	t.Run("a day that may be left out", func(t *testing.T) {
		t.Parallel()
		today := civil.Of(2026, 3, 1)
		day, err := structure.DayOr("date", "", today)
		require.NoError(t, err)
		assert.Equal(t, today, day)
		_, err = structure.DayOr("date", "tomorrow", today)
		faulttest.RequireCode(t, fault.CodeDate, err)
	})
}

func TestListsOfReferences(t *testing.T) {
	t.Parallel()
	both := &commonv1.Ref{Id: proto.Int64(3), Qualifier: proto.String("c")}
	for _, c := range []struct {
		name string
		list *commonv1.RefList
		code string
		want []string
	}{
		{"ids", &commonv1.RefList{Ids: []int64{2, 0, 2}}, "", []string{"the id 2", "the id 0", "the id 2"}},
		{"qualifiers", &commonv1.RefList{Qualifiers: []string{"b", "a"}}, "", []string{`the qualifier "b"`, `the qualifier "a"`}},
		{"refs, of which the id wins", &commonv1.RefList{Refs: []*commonv1.Ref{both, {Qualifier: proto.String("a")}}}, "", []string{"the id 3", `the qualifier "a"`}},
		{"no list", nil, structure.CodeNoList, nil},
		{"an empty list", &commonv1.RefList{}, structure.CodeNoList, nil},
		{"two kinds", &commonv1.RefList{Ids: []int64{1}, Qualifiers: []string{"a"}}, structure.CodeNoList, nil},
		{"an empty qualifier", &commonv1.RefList{Qualifiers: []string{"a", ""}}, structure.CodeNoName, nil},
		{"a ref to nothing", &commonv1.RefList{Refs: []*commonv1.Ref{both, {}}}, structure.CodeNoName, nil},
		{"no ref", &commonv1.RefList{Refs: []*commonv1.Ref{nil}}, structure.CodeNoRef, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refs, err := structure.Refs("where", c.list)
			faulttest.RequireCode(t, c.code, err)
			var got []string
			for _, ref := range refs {
				got = append(got, structure.Text(ref))
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestOneReferenceOrAList(t *testing.T) {
	t.Parallel()
	one, list := &commonv1.Ref{Id: proto.Int64(1)}, &commonv1.RefList{Ids: []int64{1, 2}}
	for _, c := range []struct {
		name string
		one  *commonv1.Ref
		list *commonv1.RefList
		code string
		want int
	}{
		{"one", one, nil, "", 1},
		{"a list", nil, list, "", 2},
		{"both", one, list, structure.CodeNoList, 0},
		{"neither", nil, nil, structure.CodeNoRef, 0},
		{"an empty list", nil, &commonv1.RefList{}, structure.CodeNoList, 0},
		{"one to nothing", &commonv1.Ref{}, nil, structure.CodeNoName, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refs, err := structure.OneOrMore("where.type", c.one, c.list)
			faulttest.RequireCode(t, c.code, err)
			assert.Len(t, refs, c.want)
		})
	}
}

func TestTimesSinceWhich(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, code, want string }{
		{"a time in UTC", "2026-03-01T08:30:00", "", "2026-03-01 08:30:00 +0000 UTC"},
		{"no time", "", "", "<nil>"},
		{"a day", "2026-03-01", fault.CodeTime, ""},
		{"a time with a zone", "2026-03-01T08:30:00Z", fault.CodeTime, ""},
		{"a day that is not", "2026-02-29T08:30:00", fault.CodeTime, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			since, err := structure.Since(&commonsv1.MultiReadOptions{ModifiedSince: c.text})
			faulttest.RequireCode(t, c.code, err)
			if c.code != "" {
				return
			}
			got := "<nil>"
			if since != nil {
				got = since.String()
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestIDsOfBodies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code string
		body       *int64
	}{
		{"none", "", nil},
		{"that of the path", "", proto.Int64(7)},
		{"another", structure.CodeOtherID, proto.Int64(8)},
		{"0", structure.CodeOtherID, proto.Int64(0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			faulttest.RequireCode(t, c.code, structure.CheckID(7, c.body))
		})
	}
}
