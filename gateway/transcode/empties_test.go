package transcode_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func TestEmptyListsThatClientsRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		message proto.Message
		want    string
	}{
		{"no list is named", &timekeepingv1.Timecard{StartDate: "2026-03-02"}, `{"startDate":"2026-03-02"}`},
		{"empty lists", &timekeepingv1.Timecard{StartDate: "2026-03-02", EmptyLists: []int32{4, 5}}, `{"startDate":"2026-03-02","punches":[],"workedShifts":[]}`},
		{"only empty lists", &timekeepingv1.Timecard{EmptyLists: []int32{6}}, `{"payCodeEdits":[]}`},
		{"a list with items", &timekeepingv1.Timecard{Totals: []*timekeepingv1.TimecardTotal{{ApplyDate: "2026-03-02"}}, EmptyLists: []int32{8}}, `{"totals":[{"applyDate":"2026-03-02"}]}`},
		{"no list and no field", &timekeepingv1.Timecard{EmptyLists: []int32{2, 15, 99, -1}}, `{}`},
		{"an object that is a list if it is empty", &commonsv1.TimekeepingExtension{AccessAssignmentDetailsDataEntries: &commonsv1.ExtensionAccessDetails{}}, `{"accessAssignmentDetailsDataEntries":[]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wire, err := proto.Marshal(test.message)
			require.NoError(t, err)
			got, err := transcode.For(test.message.ProtoReflect().Descriptor()).AppendJSON(nil, wire)
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
		})
	}
}
