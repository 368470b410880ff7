package patterndefinition

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// maxDays limits the duration of a pay code edit in days.
const maxDays = 366

// payCodeEdit checks the template of a pay code edit. It needs a pay code and an amount: times, a
// duration, or an amount of money.
func (r Rules) payCodeEdit(path string, t *schedulingv1.PayCodeEditTemplate) error {
	t.SymbolicValue = nil
	var unnamed error
	if !Named(t.GetPayCode()) {
		unnamed = Missing(path + ".payCode")
	}
	return fault.Join(unnamed, r.payCodeEditTimes(path, t), r.amounts(path, t))
}

// payCodeEditTimes checks the times of a pay code edit, or its amount if it has no times.
func (r Rules) payCodeEditTimes(path string, t *schedulingv1.PayCodeEditTemplate) error {
	hasAmount := t.DurationInTime != nil || t.DurationInDays != nil || t.MoneyAmount != nil
	switch {
	case t.GetStartDateTime() == "" && t.GetEndDateTime() == "":
		if !hasAmount {
			return Missing(path + ".durationInTime")
		}
		return nil
	case t.GetEndDateTime() == "" && hasAmount:
		// It begins at a time, and the amount determines its length.
		return r.parseStart(path+".startDateTime", &t.StartDateTime)
	}
	_, err := r.shiftPeriod(path, &t.StartDateTime, &t.EndDateTime)
	return err
}

func (r Rules) parseStart(path string, text *string) error {
	seconds, err := r.seconds(path, *text)
	if err != nil {
		return err
	}
	if seconds >= civil.SecondsPerDay {
		return Invalid(path, "must be on %s", Anchor)
	}
	*text = Anchor.At(int32(seconds)).String()
	return nil
}

func (r Rules) amounts(path string, t *schedulingv1.PayCodeEditTemplate) error {
	var errs []error
	if t.DurationInTime != nil && (t.GetDurationInTime() <= 0 || t.GetDurationInTime() > int64(r.maxShift)) {
		errs = append(errs, Invalid(path+".durationInTime", "must be 1 to %d seconds", r.maxShift))
	}
	// The comparison is written so that it rejects NaN.
	if t.DurationInDays != nil && !(t.GetDurationInDays() > 0 && t.GetDurationInDays() <= maxDays) {
		errs = append(errs, Invalid(path+".durationInDays", "must be more than 0 and at most %d", maxDays))
	}
	for _, amount := range []struct {
		name  string
		value *float64
	}{{".moneyAmount", t.MoneyAmount}, {".overrideAccrualAmount", t.OverrideAccrualAmount}} {
		if amount.value != nil && (math.IsNaN(*amount.value) || math.IsInf(*amount.value, 0)) {
			errs = append(errs, Invalid(path+amount.name, "must be a number"))
		}
	}
	return fault.Join(errs...)
}

// checkAvailability checks the template of an availability. A segment that does not end after its
// start ends on the next day.
func checkAvailability(path string, t *schedulingv1.AvailabilityTemplate) error {
	if len(t.GetSegments()) == 0 {
		return Missing(path + ".segments")
	}
	var errs []error
	for i, segment := range t.GetSegments() {
		at := fmt.Sprintf("%s.segments[%d]", path, i)
		if !Named(segment.GetAvailabilityType()) {
			errs = append(errs, Missing(at+".availabilityType"))
		}
		errs = append(errs, clockTime(at+".startTime", &segment.StartTime))
		if slices.Contains([]string{"24:00", "24:00:00"}, segment.GetEndTime()) {
			segment.EndTime = "00:00" // Times of day have one name for the midnight that ends a day.
		}
		errs = append(errs, clockTime(at+".endTime", &segment.EndTime))
	}
	return fault.Join(errs...)
}

func clockTime(path string, text *string) error {
	if *text == "" {
		return Missing(path)
	}
	at, err := civil.ParseTimeOfDay(*text)
	if err != nil {
		return fault.Invalid(fault.CodeTime, path+": "+err.Error()+".").WithMembers(path)
	}
	*text = at.String()
	return nil
}

// scheduleTag checks the template of a schedule tag. A tag without times covers the whole day.
func (r Rules) scheduleTag(path string, t *schedulingv1.ScheduleTagTemplate) error {
	var errs []error
	if t.GetStartDateTime() != "" || t.GetEndDateTime() != "" {
		_, err := r.shiftPeriod(path, &t.StartDateTime, &t.EndDateTime)
		errs = append(errs, err)
	}
	if len(t.GetSegments()) == 0 {
		errs = append(errs, Missing(path+".segments"))
	}
	for i, segment := range t.GetSegments() {
		at := fmt.Sprintf("%s.segments[%d]", path, i)
		if !Named(segment.GetTagDefinition()) {
			errs = append(errs, Missing(at+".tagDefinition"))
		}
		errs = append(errs, checkTagType(at+".segmentType", segment.GetSegmentType()))
	}
	return fault.Join(errs...)
}

// tagTypes are the kinds of a schedule tag's segments.
var tagTypes = []string{"ON_CALL_SHIFT", "SCHEDULE_TAG", "PREDICTIVE_TAG"}

// checkTagType checks the kind of a tag's segment if it is named. Any id is accepted, because the
// specification does not list ids.
func checkTagType(path string, ref *commonv1.Ref) error {
	name := ref.GetQualifier()
	if name == "" || ref.Id != nil || slices.Contains(tagTypes, name) || slices.Contains(segmentTypes[:], name) {
		return nil
	}
	return Invalid(path, "must be one of %s", strings.Join(tagTypes, ", "))
}
