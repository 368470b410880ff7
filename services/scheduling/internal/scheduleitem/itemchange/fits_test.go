package itemchange

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

func shifts() *Editor[*schedulingv1.Shift] {
	return &Editor[*schedulingv1.Shift]{Label: "shift", Version: func(s *schedulingv1.Shift) *int64 { return s.Version }}
}

func TestEntriesThatMayBeReplaced(t *testing.T) {
	t.Parallel()
	ada := &commonv1.Ref{Id: proto.Int64(1)}
	was := entryState{row: &itemstore.Row{ID: 7, EmployeeID: 1, Version: 3}}
	of := func(employee int64) *itemdraft.Draft {
		return &itemdraft.Draft{Employee: &projection.Employee{ID: employee}}
	}
	for _, c := range []struct {
		name  string
		sent  *schedulingv1.Shift
		found bool
		draft *itemdraft.Draft
		code  string
	}{
		{"of the same employee", &schedulingv1.Shift{}, true, of(1), ""},
		{"of the version that was read", &schedulingv1.Shift{Version: proto.Int64(3)}, true, of(1), ""},
		{"of an older version", &schedulingv1.Shift{Version: proto.Int64(2)}, true, of(1), fault.CodeStale},
		{"that are not there", &schedulingv1.Shift{}, false, of(1), itemfault.CodeUnknown},
		{"for another employee who is named", &schedulingv1.Shift{Employee: ada}, true, of(2), ""},
		{"that went to somebody else meanwhile", &schedulingv1.Shift{}, true, of(2), fault.CodeStale},
		{"that went from an open shift meanwhile", &schedulingv1.Shift{}, true, &itemdraft.Draft{}, fault.CodeStale},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := shifts().checkReplaceable(t.Context(), c.sent, was, c.found, c.draft)
			if c.code == "" {
				require.NoError(t, err)
				return
			}
			assert.True(t, fault.HasCode(err, c.code), "%v", err)
		})
	}
}

func TestEntriesAreReplacedOnce(t *testing.T) {
	t.Parallel()
	id := func(n int64) *schedulingv1.Shift { return &schedulingv1.Shift{Id: &n} }
	failed := shifts().distinctIDs([]*schedulingv1.Shift{id(1), {}, id(2), id(1), id(1)})
	codes := make([]string, len(failed))
	for i, err := range failed {
		if err != nil {
			codes[i] = fault.FromError(err).Code
		}
	}
	assert.Equal(t, []string{"", itemfault.CodeMissing, "", fault.CodeInput, fault.CodeInput}, codes)
}

func TestDaysThatHaveChanged(t *testing.T) {
	t.Parallel()
	type entry struct {
		employee int64
		from, to civil.Date
	}
	for _, c := range []struct {
		name      string
		entries   []entry
		employees []int64
		from, to  civil.Date
	}{
		{"of one entry", []entry{{1, 10, 11}}, []int64{1}, 10, 11},
		{"of several", []entry{{2, 10, 11}, {1, 8, 9}, {2, 20, 20}}, []int64{2, 1, 2}, 8, 20},
		{"before 1970", []entry{{1, -5, -4}}, []int64{1}, -5, -4},
		{"of open shifts, which are on nobody's schedule", []entry{{0, 1, 2}, {1, 10, 11}, {0, 30, 31}}, []int64{1}, 10, 11},
		{"of nobody", []entry{{0, 1, 2}}, nil, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			news := &Notifications{}
			for _, e := range c.entries {
				news.AddDays(e.employee, e.from, e.to)
			}
			assert.Equal(t, c.employees, news.employees)
			assert.Equal(t, []civil.Date{c.from, c.to}, []civil.Date{news.from, news.to})
		})
	}
}
