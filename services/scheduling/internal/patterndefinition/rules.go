package patterndefinition

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// Anchor is the date of the times of templates. Times after midnight are on the next day.
const Anchor = civil.Beginning

// Rules validate templates and patterns. They normalize accepted values, so that equal values have
// equal bytes, and change nothing else. They need no database.
type Rules struct {
	maxCycle int
	maxShift int // in seconds
}

// NewRules returns the rules with the limits of the settings.
func NewRules(settings Settings) Rules {
	cycle, shift := settings.MaxCycle, settings.MaxShift
	if cycle <= 0 {
		cycle = rotation.DefaultMaxDays
	}
	if shift <= 0 {
		shift = 24 * time.Hour
	}
	// Readers do not look back further for entries that reach into their window.
	shift = min(shift, rotation.MaxEntrySeconds*time.Second)
	return Rules{maxCycle: cycle, maxShift: int(shift / time.Second)}
}

// period is an interval in seconds after the midnight that begins Anchor.
type period struct{ start, end int }

func (p period) covers(o period) bool { return p.start <= o.start && o.end <= p.end }

// parsePeriod parses and normalizes the two times of a template or segment. The longest possible
// interval begins just before midnight of Anchor.
func (r Rules) parsePeriod(path string, start, end *string) (period, error) {
	var p period
	var errs []error
	for _, field := range []struct {
		name    string
		text    *string
		seconds *int
	}{
		{".startDateTime", start, &p.start},
		{".endDateTime", end, &p.end},
	} {
		if *field.text == "" {
			errs = append(errs, Missing(path+field.name))
			continue
		}
		seconds, err := r.seconds(path+field.name, *field.text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		*field.seconds = seconds
		*field.text = Anchor.At(int32(seconds)).String()
	}
	if len(errs) > 0 {
		return period{}, fault.Join(errs...)
	}
	if p.end <= p.start {
		return period{}, Invalid(path+".endDateTime", "must be after startDateTime")
	}
	if p.end-p.start > r.maxShift {
		return period{}, Invalid(path+".endDateTime", "must be at most %s after startDateTime", time.Duration(r.maxShift)*time.Second)
	}
	return p, nil
}

// shiftPeriod is like parsePeriod, but the period must begin on the day that it belongs to.
func (r Rules) shiftPeriod(path string, start, end *string) (period, error) {
	p, err := r.parsePeriod(path, start, end)
	if err == nil && p.start >= civil.SecondsPerDay {
		err = Invalid(path+".startDateTime", "must be on %s", Anchor)
	}
	return p, err
}

func (r Rules) seconds(path, text string) (int, error) {
	at, err := civil.ParseDateTime(text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".").WithMembers(path)
	}
	day := int(at.Date) - int(Anchor)
	if last := 1 + (r.maxShift-1)/civil.SecondsPerDay; day < 0 || day > last {
		return 0, Invalid(path, "must be anchored on %s, or on %s when past midnight", Anchor, Anchor.AddDays(1))
	}
	return day*civil.SecondsPerDay + int(at.Seconds), nil
}

// Named reports whether a reference has an id or a qualifier.
func Named(ref *commonv1.Ref) bool {
	return ref != nil && (ref.Id != nil || ref.GetQualifier() != "")
}
