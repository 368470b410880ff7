package dataprovider

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
)

// scheduledNames replaces scheduling: it has a column of pay codes, and records its requests.
type scheduledNames struct {
	column  *datav1.DataColumn
	err     error
	request *datav1.ReadDataElementsRequest
}

func (s *scheduledNames) ReadDataElements(_ context.Context, req *datav1.ReadDataElementsRequest, _ ...grpc.CallOption) (*datav1.ReadDataElementsResponse, error) {
	s.request = req
	return &datav1.ReadDataElementsResponse{Columns: []*datav1.DataColumn{s.column}}, s.err
}

// The pay codes of schedules are those that scheduling names, row by row and period by period.
func TestScheduledPayCodes(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	codes := paycode.New(pool, paycodetest.Terms{})
	for _, code := range []*timekeepingv1.PayCode{{Name: "Sick", Type: "CASCADE", Combined: proto.Bool(true)}, {Name: "Bonus"}} {
		_, err := codes.CreatePayCode(ctx, code)
		require.NoError(t, err)
	}
	_, err := codes.CreatePayCode(tenant.With(t.Context(), 2), &timekeepingv1.PayCode{Name: "Elsewhere", Type: "DURATION"})
	require.NoError(t, err)
	for name, kind := range map[string]datav1.RowKind{"employees": datav1.RowKind_ROW_KIND_EMPLOYEE, "locations": datav1.RowKind_ROW_KIND_LOCATION} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Rows 7, 8 and 9 in two periods; none of the second of 7 and the first of 9.
			source := &scheduledNames{column: &datav1.DataColumn{Present: []byte{0b101101}, Texts: []string{"SICK", "Unknown", "bonus", "Elsewhere"}}}
			table := newScheduledPayCodes(pool, source, kind)
			require.Empty(t, table.Problems())
			columns, err := table.Read(ctx, &datav1.ReadDataElementsRequest{
				RowIds: []int64{7, 8, 9}, Bounds: []int32{20500, 20507, 20514},
				Elements: []*datav1.DataSelection{{Key: "CORE_PAYCODE_TYPE"}, {Key: "CORE_PAYCODE_IS_COMBINED"}},
			})
			require.NoError(t, err)
			assert.Equal(t, []byte{0b001001}, columns[0].GetPresent())
			assert.Equal(t, []string{"CASCADE", "REGULAR"}, columns[0].GetTexts())
			assert.Equal(t, []byte{0b001001}, columns[1].GetPresent())
			assert.Equal(t, []int64{1, 0}, columns[1].GetIntegers())
			want := &datav1.ReadDataElementsRequest{
				Provider: "SCH", RowKind: kind, RowIds: []int64{7, 8, 9}, Bounds: []int32{20500, 20507, 20514}, Elements: []*datav1.DataSelection{{Key: "CORE_PAYCODE"}},
			}
			assert.True(t, proto.Equal(want, source.request), "%v", source.request)
		})
	}
}

// The limits of schedules are the limits of scheduling, with the same texts.
func TestScheduledPayCodesHaveTheLimitsOfSchedules(t *testing.T) {
	t.Parallel()
	source := &scheduledNames{err: dataelement.OverLimit("SCH", "employees * days", 57_120, 56_000)}
	_, err := newScheduledPayCodes(nil, source, datav1.RowKind_ROW_KIND_EMPLOYEE).Read(tenant.With(t.Context(), 1), &datav1.ReadDataElementsRequest{
		RowIds: make([]int64, 1020), Bounds: []int32{20500, 20556}, Elements: []*datav1.DataSelection{{Key: "CORE_PAYCODE_TYPE"}},
	})
	assert.True(t, fault.HasCode(err, dataelement.CodeLimit), err)
	assert.ErrorContains(t, err, "The service limit of the data provider SCH is exceeded: employees * days: 57120, allowed: 56000")
}
