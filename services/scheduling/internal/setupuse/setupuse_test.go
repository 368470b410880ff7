package setupuse_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupuse"
)

const insertItem = `INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, deleted, withdrawn, body)
	VALUES (1, 1, $1, $2, '2026-03-03', '2026-03-04', $3, $4, $5)`

func TestMain(m *testing.M) { pgtest.Main(m) }

func encode(t *testing.T, m proto.Message) []byte {
	t.Helper()
	body, err := proto.Marshal(m)
	require.NoError(t, err)
	return body
}

func edit(t *testing.T, code *commonv1.Ref) []byte {
	t.Helper()
	return encode(t, &schedulingv1.PayCodeEdit{PayCodeRef: code})
}

func pattern(t *testing.T, code *commonv1.Ref) []byte {
	t.Helper()
	return encode(t, &schedulingv1.SchedulePattern{Items: []*schedulingv1.SchedulePatternItem{{}, {PayCodeEditTemplate: &schedulingv1.PayCodeEditTemplate{PayCode: code}}}})
}

// findIn finds users of the object 70000 with the name "nächtliche ruhe" in a database with the rows of a
// statement.
func findIn(t *testing.T, to setupref.Property, sql string, args ...any) string {
	t.Helper()
	env := schedtest.New(t)
	env.Exec(t, "INSERT INTO employee VALUES (1, 1, 'P1', 'One', 'Europe/Zurich', 1)")
	env.Exec(t, schedtest.InsertTerm, 5, "Nurses", true)
	env.Exec(t, sql, args...)
	found, err := setupuse.Find(env.Ctx, env.Pool, to, 70_000, "nächtliche ruhe")
	require.NoError(t, err)
	return found
}

// Each place of schedules that refers to a pay code is found, by the id and by the name in any case.
func TestPlacesOfPayCodes(t *testing.T) {
	t.Parallel()
	const insertPattern = `WITH p AS (INSERT INTO schedule_pattern (tenant_id, digest, day_count, body) VALUES (1, sha256($1), 1, $1) RETURNING id)
		INSERT INTO pattern_assignment (tenant_id, id, version, employment_term_id, employee_id, from_date, to_date, pattern_id, day_count, anchor,
			start_date_offset, override, lane, seq, propagation_id, believed_until)
		SELECT 1, 1, 1, $2, $3, '2026-01-01', '2027-01-01', id, 1, '2026-01-01', 0, false, 0, 1, 1, $4 FROM p`
	byID := &commonv1.Ref{Id: proto.Int64(70_000), Qualifier: proto.String("Another")}
	byName := &commonv1.Ref{Qualifier: proto.String("NÄCHTLICHE Ruhe")}
	for _, c := range []struct {
		name string
		sql  string
		args []any
		want string
	}{
		{"no place", `SELECT`, nil, ""},
		{"an entry, by the id", insertItem, []any{1, "PAY_CODE_EDIT", false, false, edit(t, byID)}, `The schedule of the employee "P1" on 2026-03-03`},
		{"an entry, by the name", insertItem, []any{1, "PAY_CODE_EDIT", false, false, edit(t, byName)}, `The schedule of the employee "P1" on 2026-03-03`},
		{"an entry of an employee without a copy", insertItem, []any{9, "PAY_CODE_EDIT", false, false, edit(t, byID)}, `The schedule of the employee "9" on 2026-03-03`},
		{"a deleted entry", insertItem, []any{1, "PAY_CODE_EDIT", true, false, edit(t, byID)}, ""},
		{"a withdrawn entry", insertItem, []any{1, "PAY_CODE_EDIT", false, true, edit(t, byID)}, ""},
		{"an entry of another pay code", insertItem, []any{1, "PAY_CODE_EDIT", false, false, edit(t, &commonv1.Ref{Id: proto.Int64(70_001), Qualifier: byName.Qualifier})}, ""},
		{"an entry of a longer name", insertItem, []any{1, "PAY_CODE_EDIT", false, false, edit(t, &commonv1.Ref{Qualifier: proto.String("Nächtliche Ruhe 2")})}, ""},
		{"the pattern of a term", insertPattern, []any{pattern(t, byID), 5, nil, "infinity"}, `A schedule pattern of the employment term "Nurses"`},
		{"the pattern of an employee", insertPattern, []any{pattern(t, byName), nil, 1, "infinity"}, `A schedule pattern of the employee "P1"`},
		{"a former pattern", insertPattern, []any{pattern(t, byID), 5, nil, "2026-02-01"}, ""},
		{"a pattern template", `INSERT INTO schedule_pattern_template (tenant_id, name, body) VALUES (1, 'Week', $1)`, []any{pattern(t, byName)}, `The schedule pattern template "Week"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, findIn(t, setupref.PayCode, c.sql, c.args...))
		})
	}
}

// Entries, patterns and templates that refer to work rules and tag definitions are found.
func TestPlacesOfWorkRulesAndTagDefinitions(t *testing.T) {
	t.Parallel()
	const (
		employee    = `The schedule of the employee "P1" on 2026-03-03`
		pieces      = `INSERT INTO schedule_pattern_template (tenant_id, name, body) VALUES (1, 'Week', $1)`
		shifts      = `INSERT INTO shift_template (tenant_id, name, body) VALUES (1, 'Early', $1)`
		definitions = `INSERT INTO tag_definition (tenant_id, name, body) VALUES (1, 'On call', $1)`
	)
	ref := &commonv1.Ref{Id: proto.Int64(70_000), Qualifier: proto.String("Another")}
	shift := func(s *schedulingv1.ShiftSegment) []byte {
		return encode(t, &schedulingv1.Shift{Segments: []*schedulingv1.ShiftSegment{{}, s}})
	}
	tag := func(s *schedulingv1.ScheduleTagSegment) []byte {
		return encode(t, &schedulingv1.ScheduleTag{Segments: []*schedulingv1.ScheduleTagSegment{s}})
	}
	ofPattern := func(item *schedulingv1.SchedulePatternItem) []byte {
		return encode(t, &schedulingv1.SchedulePattern{Items: []*schedulingv1.SchedulePatternItem{item}})
	}
	template := &schedulingv1.ShiftTemplate{Segments: []*schedulingv1.ShiftTemplateSegment{
		{WorkRule: ref, SegmentTemplateTags: []*schedulingv1.SegmentTemplateTag{{TagDefinitionRef: ref}}},
	}}
	ruled := tag(&schedulingv1.ScheduleTagSegment{WorkruleRef: ref})
	for _, c := range []struct {
		name string
		to   setupref.Property
		sql  string
		args []any
		want string
	}{
		{"the work rule of a shift", setupref.WorkRule, insertItem, []any{1, "SHIFT", false, false, shift(&schedulingv1.ShiftSegment{WorkruleRef: ref})}, employee},
		{"the work rule of an open shift", setupref.WorkRule, insertItem, []any{nil, "SHIFT", false, false, shift(&schedulingv1.ShiftSegment{WorkruleRef: ref})}, "The open entry on 2026-03-03"},
		{"a transfer", setupref.WorkRule, insertItem, []any{1, "SHIFT", false, false, shift(&schedulingv1.ShiftSegment{TransferString: "Shop/Baker;Nächtliche Ruhe;4711"})}, employee},
		{"a transfer to a job of that name", setupref.WorkRule, insertItem, []any{1, "SHIFT", false, false, shift(&schedulingv1.ShiftSegment{TransferString: "Nächtliche Ruhe;Days"})}, ""},
		{"the work rule of a pay code edit", setupref.WorkRule, insertItem, []any{1, "PAY_CODE_EDIT", false, false, encode(t, &schedulingv1.PayCodeEdit{WorkruleRef: ref})}, employee},
		{"the work rule of a tag", setupref.WorkRule, insertItem, []any{1, "SCHEDULE_TAG", false, false, ruled}, employee},
		{"the work rule of a shift template", setupref.WorkRule, shifts, []any{encode(t, template)}, `The shift template "Early"`},
		{"the work rule of a pattern template", setupref.WorkRule, pieces, []any{ofPattern(&schedulingv1.SchedulePatternItem{ShiftTemplate: template})}, `The schedule pattern template "Week"`},
		{"the work rule of a tag definition", setupref.WorkRule, definitions, []any{encode(t, &schedulingv1.TagDefinition{
			ScheduleContextAttributes: &schedulingv1.ScheduleTagAttributes{DefaultWorkRule: ref},
		})}, `The tag definition "On call"`},
		{"a work rule with the id of the definition", setupref.TagDefinition, insertItem, []any{1, "SCHEDULE_TAG", false, false, ruled}, ""},
		{"the definition of a tag", setupref.TagDefinition, insertItem, []any{1, "SCHEDULE_TAG", false, false, tag(&schedulingv1.ScheduleTagSegment{TagDefinitionRef: ref})}, employee},
		{"the definition of a segment tag", setupref.TagDefinition, insertItem, []any{1, "SHIFT", false, false, shift(&schedulingv1.ShiftSegment{
			SegmentTags: []*schedulingv1.SegmentTag{{TagDefinitionRef: ref}},
		})}, employee},
		{"the definition of a shift template", setupref.TagDefinition, shifts, []any{encode(t, template)}, `The shift template "Early"`},
		{"the definition of a pattern template", setupref.TagDefinition, pieces, []any{ofPattern(&schedulingv1.SchedulePatternItem{
			ScheduleTagTemplate: &schedulingv1.ScheduleTagTemplate{Segments: []*schedulingv1.ScheduleTagTemplateSegment{{TagDefinition: ref}}},
		})}, `The schedule pattern template "Week"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, findIn(t, c.to, c.sql, c.args...))
		})
	}
}
