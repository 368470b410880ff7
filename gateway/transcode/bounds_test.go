package transcode_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	_ "github.com/rotaloom/rotaloom/proto/contracts" // All of them.
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Few bytes that stand for much memory are refused before the memory is taken.
func TestEmptyObjectsAreNotBuilt(t *testing.T) {
	t.Parallel()
	plan := transcode.For((&schedulingv1.ShiftTemplate{}).ProtoReflect().Descriptor())
	body := `{"segments":[` + strings.Repeat("{},", 400_000) + `{}]}` // The list has no limit of its own.
	_, err := plan.AppendWire(nil, []byte(body))
	var bad *fault.Error
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, http.StatusRequestEntityTooLarge, bad.Status)
	assert.Equal(t, fault.CodeTooLarge, bad.Code)
	_, err = plan.AppendWire(nil, []byte(`{"segments":[{},{},{}]}`))
	require.NoError(t, err, "a few are accepted")
}

// The limit refuses a list that is too long with the same text and numbers as if the list had been written
// completely. protojson writes it completely.
func TestListsAreCutWhereALimitRefusesThem(t *testing.T) {
	t.Parallel()
	const (
		deletion  = "/rotaloom.scheduling.v1.ShiftService/MultiDeleteShifts"
		leaveRead = "/rotaloom.timekeeping.v1.LeaveEditService/MultiReadLeaveEdits"
		locks     = "/rotaloom.scheduling.v1.DayLockService/ApplyCreateDayLocks"
		sets      = "/rotaloom.commons.v1.LocationSetService/UpsertLocationSets"
	)
	ids := func(n int) string { return strings.Repeat("1,", n-1) + "1" }
	refs := func(n int) string { return strings.Repeat(`{"id":1},`, n-1) + `{"id":1}` }
	for name, test := range map[string]struct{ method, body string }{
		"at a limit":                {deletion, `{"where":{"shiftIds":[` + ids(1000) + `]}}`},
		"one over":                  {deletion, `{"where":{"shiftIds":[` + ids(1001) + `]}}`},
		"far over":                  {deletion, `{"where":{"shiftIds":[` + ids(70_000) + `]}}`},
		"employees and days":        {leaveRead, `{"employees":{"ids":[` + ids(84_001) + `]},"dateRange":{"startDate":"2026-01-01","endDate":"2026-01-03"}}`},
		"employees in two lists":    {leaveRead, `{"employees":{"ids":[` + ids(84_001) + `],"qualifiers":["a"]}}`},
		"employees without days":    {leaveRead, `{"employees":{"ids":[` + ids(84_001) + `]}}`},
		"a format is wrong as well": {leaveRead, `{"employees":{"ids":[` + ids(84_001) + `]},"dateRange":{"startDate":"2026"}}`},
		"references":                {locks, `{"forEmployees":{"where":{"employeeRefs":{"refs":[` + refs(2500) + `]}}}}`},
		"deep below":                {sets, `[{"name":"a"},{"name":"b","addNodeRefs":[` + refs(10_001) + `]}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method, err := policy.NewTable(nil).Method(test.method)
			require.NoError(t, err)
			checked := func(decode func(proto.Message) error) (*fault.Error, int) {
				req := dynamicpb.NewMessage(method.Input)
				require.NoError(t, decode(req))
				if err := method.CheckFormats(req); err != nil {
					return fault.FromError(err), proto.Size(req)
				}
				return fault.FromError(method.CheckLimits(req)), proto.Size(req)
			}
			want, whole := checked(func(m proto.Message) error {
				body := test.body
				if body[0] == '[' {
					body = `{"changes":` + body + `}`
				}
				return protojson.Unmarshal([]byte(body), m)
			})
			got, cut := checked(func(m proto.Message) error {
				wire, err := transcode.For(method.Input).AppendWire(nil, []byte(test.body))
				require.NoError(t, err)
				return proto.Unmarshal(wire, m)
			})
			if want == nil {
				require.Nil(t, got)
				return
			}
			require.NotNil(t, got)
			assert.Equal(t, []any{want.Code, want.Status, want.Message, want.Details.String()}, []any{got.Code, got.Status, got.Message, got.Details.String()})
			assert.Less(t, cut, whole+20)
		})
	}
}
