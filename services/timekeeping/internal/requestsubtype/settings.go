package requestsubtype

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// checkSettings validates the settings of each type, and completes durations.
func checkSettings(w *timekeepingv1.RequestSubtype) error {
	switch {
	case w.GetTimeOffRequest() != nil:
		return checkTimeOff("timeOffRequest", w.GetTimeOffRequest())
	case w.GetSelfScheduleRequest() != nil:
		path, s := "selfScheduleRequest", w.GetSelfScheduleRequest()
		if err := checkLength(path+".minShiftTemplateLength", s.GetMinShiftTemplateLength()); err != nil {
			return err
		}
		if err := checkLength(path+".maxShiftTemplateLength", s.GetMaxShiftTemplateLength()); err != nil {
			return err
		}
		if least, most := s.GetMinShiftTemplateLength(), s.GetMaxShiftTemplateLength(); most != nil && least.GetSeconds() > most.GetSeconds() {
			return timeofffault.Invalid(path+".minShiftTemplateLength", "must not be longer than maxShiftTemplateLength")
		}
	}
	return nil
}

func checkTimeOff(path string, s *timekeepingv1.TimeOffRequestSubtype) error {
	for _, l := range []struct {
		name   string
		length *timekeepingv1.RequestDuration
	}{{"fixedValueHours", s.GetFixedValueHours()}, {"unavailableAmount", s.GetUnavailableAmount()}} {
		if err := checkLength(path+"."+l.name, l.length); err != nil {
			return err
		}
	}
	if s.GetDefaultStartTime() != "" {
		at, err := civil.ParseTimeOfDay(s.GetDefaultStartTime())
		if err != nil {
			return timeofffault.Invalid(path+".defaultStartTime", "is no time of day: %s", err)
		}
		s.DefaultStartTime = at.String()
	}
	for _, amount := range s.GetDefaultSymbolicAmounts() {
		if _, _, ok := symbolicamount.Find(amount); !ok && !symbolicamount.IsHours(amount) {
			return timeofffault.Invalid(path+".defaultSymbolicAmounts", "must have -1 %s, -2 %s or %s",
				symbolicamount.FullDay, symbolicamount.HalfDay, symbolicamount.Hours)
		}
	}
	return nil
}

// checkLength validates a duration of up to a day, and fills in all its properties.
func checkLength(path string, d *timekeepingv1.RequestDuration) error {
	switch {
	case d == nil:
		return nil
	case d.GetNegative() || d.GetSeconds() < 0:
		return timeofffault.Invalid(path, "must not be negative")
	case d.GetNano() != 0:
		return timeofffault.Invalid(path+".nano", "must be 0")
	case d.GetSeconds() > civil.SecondsPerDay:
		return timeofffault.Invalid(path+".seconds", "must be at most %d, which is a day", civil.SecondsPerDay)
	case d.Zero != nil && d.GetZero() != (d.GetSeconds() == 0):
		return timeofffault.Invalid(path+".zero", "must say whether seconds is 0")
	}
	d.Seconds, d.Nano = proto.Int64(d.GetSeconds()), proto.Int32(0)
	d.Negative, d.Zero = proto.Bool(false), proto.Bool(d.GetSeconds() == 0)
	return nil
}
