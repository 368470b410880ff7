package scheduleevent

import (
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/coveringedit"
)

const (
	// perUnit are the parts in which days and money are given.
	perUnit = 10_000
	// maxUnits bounds the days or the money of an edit. An edit of more is worth nothing
	// to timecards, which have no such amounts.
	maxUnits = 1_000_000_000
	// maxPayCode bounds the name of a pay code, in bytes.
	maxPayCode = 1000
)

// addEdit adds to a state what an edit is worth, and until when.
func addEdit(to *schedulingv1.EnteredShift, in Shift) error {
	edit := &schedulingv1.PayCodeEdit{}
	if err := proto.Unmarshal(in.Body, edit); err != nil {
		return err
	}
	amount, err := editAmount(edit)
	if err != nil {
		return err
	}
	to.PayCodeEdit, to.LastDay = amount, int32(in.Last)
	if amount.GetEndSecond() > civil.SecondsPerDay && in.Last == in.Day+1 {
		to.LastDay = int32(in.Day) // One night, which ends on the day after it began.
	}
	return nil
}

// editAmount returns what an edit is worth on each of its days.
func editAmount(e *schedulingv1.PayCodeEdit) (*schedulingv1.PayCodeAmount, error) {
	out := amountOf(e.GetPayCodeRef(), e.GetOrgJobRef())
	symbolic := e.GetSymbolicValueRef().GetQualifier()
	switch {
	case e.MoneyAmount != nil:
		out.Money = parts(e.GetMoneyAmount())
	case e.GetMoneyCurrencyAmount() != nil:
		out.Money = parts(e.GetMoneyCurrencyAmount().GetAmount())
	case symbolic == coveringedit.FullDay:
		out.Halves = 2
	case symbolic == coveringedit.HalfDay:
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

// templateAmount returns what the edits are worth that a template generates.
func templateAmount(t *schedulingv1.PayCodeEditTemplate) (*schedulingv1.PayCodeAmount, error) {
	out := amountOf(t.GetPayCode(), t.GetOrgJob())
	var err error
	switch {
	case t.MoneyAmount != nil:
		out.Money = parts(t.GetMoneyAmount())
	case t.GetDurationInTime() != 0:
		out.Seconds = t.GetDurationInTime()
	case t.GetStartDateTime() != "" && t.GetEndDateTime() != "":
		out.StartSecond, out.EndSecond, err = seconds(civil.Beginning, t.GetStartDateTime(), t.GetEndDateTime())
	default:
		out.Days = parts(t.GetDurationInDays())
	}
	return out, err
}

func amountOf(code, job *commonv1.Ref) *schedulingv1.PayCodeAmount {
	out := &schedulingv1.PayCodeAmount{PayCodeId: code.GetId(), PayCode: code.GetQualifier(), Job: jobOf(job)}
	if len(out.GetPayCode()) > maxPayCode || strings.ContainsRune(out.GetPayCode(), 0) {
		out.PayCode = ""
	}
	return out
}

// parts returns an amount in parts; 0 for one that is out of bounds.
func parts(amount float64) int64 {
	if !(math.Abs(amount) <= maxUnits) { // This way round for NaN.
		return 0
	}
	return int64(math.Round(amount * perUnit))
}
