package employeeday

import (
	"math"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

const (
	// perUnit is the number of parts of a day or a unit of money.
	perUnit = 10_000
	// maxUnits limits the days or the money of an edit. Larger amounts count as 0, because
	// timecards cannot represent them.
	maxUnits = 1_000_000_000
	// maxPayCode limits the name of a pay code, in bytes.
	maxPayCode = 1000
)

// editAmount returns the amount of an edit on each of its days.
func editAmount(e *schedulingv1.PayCodeEdit) (*schedulingv1.PayCodeAmount, error) {
	out := newAmount(e.GetPayCodeRef(), e.GetOrgJobRef())
	symbolic := e.GetSymbolicValueRef().GetQualifier()
	switch {
	case e.MoneyAmount != nil:
		out.Money = parts(e.GetMoneyAmount())
	case e.GetMoneyCurrencyAmount() != nil:
		out.Money = parts(e.GetMoneyCurrencyAmount().GetAmount())
	case symbolic == symbolicamount.FullDay:
		out.Halves = 2
	case symbolic == symbolicamount.HalfDay:
		out.Halves = 1
	case e.GetDurationInTime() != 0:
		out.Seconds = e.GetDurationInTime()
	case e.GetDurationInMinutes() != "":
		hours, minutes, _ := strings.Cut(e.GetDurationInMinutes(), ":")
		h, _ := strconv.ParseInt(hours, 10, 32)
		m, err := strconv.ParseInt(minutes, 10, 32)
		out.Seconds = h*3600 + m*60
		return out, err
	case e.GetStartTime() != "" && e.GetEndTime() != "":
		start, err := civil.ParseTimeOfDay(e.GetStartTime())
		if err != nil {
			return nil, err
		}
		end, err := civil.ParseTimeOfDay(e.GetEndTime())
		if err != nil {
			return nil, err
		}
		out.StartSecond, out.EndSecond = int32(start), int32(end)
		if end <= start {
			out.EndSecond += civil.SecondsPerDay // It ends on the next day.
		}
	default:
		out.Days = parts(e.GetDurationInDays())
	}
	return out, nil
}

func newAmount(code, job *commonv1.Ref) *schedulingv1.PayCodeAmount {
	out := &schedulingv1.PayCodeAmount{PayCodeId: code.GetId(), PayCode: code.GetQualifier(), Job: scheduleevent.JobName(job)}
	if len(out.GetPayCode()) > maxPayCode || strings.ContainsRune(out.GetPayCode(), 0) {
		out.PayCode = ""
	}
	return out
}

// parts returns an amount in parts, or 0 if it is out of range.
func parts(amount float64) int64 {
	if !(math.Abs(amount) <= maxUnits) { // This form also excludes NaN.
		return 0
	}
	return int64(math.Round(amount * perUnit))
}
