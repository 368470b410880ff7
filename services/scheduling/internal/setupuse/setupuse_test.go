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
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupuse"
)

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

// Each place of schedules that refers to a pay code is found, by the id and by the name in any case.
func TestPlacesOfPayCodes(t *testing.T) {
	t.Parallel()
	const insertItem = `INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, deleted, withdrawn, body)
		VALUES (1, 1, $1, $2, '2026-03-03', '2026-03-04', $3, $4, $5)`
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
			env := schedtest.New(t)
			env.Exec(t, "INSERT INTO employee VALUES (1, 1, 'P1', 'One', 'Europe/Zurich', 1)")
			env.Exec(t, schedtest.InsertTerm, 5, "Nurses", true)
			env.Exec(t, c.sql, c.args...)
			found, err := setupuse.Find(env.Ctx, env.Pool, setupuse.PayCode, 70_000, "nächtliche ruhe")
			require.NoError(t, err)
			assert.Equal(t, c.want, found)
		})
	}
}
