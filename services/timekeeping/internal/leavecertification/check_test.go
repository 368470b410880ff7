package leavecertification

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

func TestCertificationsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, code, says string
		change           func(*timekeepingv1.LeaveCertification)
	}{
		{"no start", leavecase.CodeRangeStartMissing, "startDate", func(c *timekeepingv1.LeaveCertification) { c.StartDate = "" }},
		{"a start that is no date", fault.CodeDate, "startDate", func(c *timekeepingv1.LeaveCertification) { c.StartDate = "2026-02-30" }},
		{"an expiration before the start", leavecase.CodeStartAfterEnd, "expirationDate", func(c *timekeepingv1.LeaveCertification) { c.ExpirationDate = "2026-02-28" }},
		{"a reduced schedule that ends before it begins", leavecase.CodeStartAfterEnd, "reducedScheduleEndDate", func(c *timekeepingv1.LeaveCertification) {
			c.ReducedScheduleStartDate, c.ReducedScheduleEndDate = "2026-03-05", "2026-03-04"
		}},
		{"more days than there are in a week", fault.CodeInput, "reducedScheduleDaysPerWeek must be from 0 to 7", func(c *timekeepingv1.LeaveCertification) {
			c.ReducedScheduleDaysPerWeek = proto.Int32(8)
		}},
		{"a negative amount", fault.CodeInput, "totalHours", func(c *timekeepingv1.LeaveCertification) { c.TotalHours = proto.Int64(-1) }},
		{"a note that is too long", leavecase.CodeTooLong, "note", func(c *timekeepingv1.LeaveCertification) { c.Note = strings.Repeat("é", maxNote+1) }},
		{"a control character", fault.CodeInput, "control character", func(c *timekeepingv1.LeaveCertification) { c.Note = "a\x07b" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := &timekeepingv1.LeaveCertification{StartDate: "2026-03-01", ExpirationDate: "2026-03-31", Note: "two\nlines"}
			first, err := check(c)
			require.NoError(t, err)
			assert.Equal(t, civil.Of(2026, 3, 1), first)
			test.change(c)
			_, err = check(c)
			require.Error(t, err)
			assert.Equal(t, test.code, fault.FromError(err).Code)
			assert.Contains(t, fault.FromError(err).Message, test.says)
		})
	}
}

// A caller who sends the same request again reads the same error.
func TestTheFirstAmountThatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	wrong := &timekeepingv1.LeaveCertification{
		StartDate: "2026-03-01", DurationDays: proto.Int32(-1), DurationHours: proto.Int64(-1), TotalHours: proto.Int64(-1), ReducedScheduleDaysPerWeek: proto.Int32(8),
	}
	for range 50 {
		_, err := check(wrong)
		require.ErrorContains(t, err, "durationDays")
	}
}
