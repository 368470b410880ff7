package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/personzone"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// shortZones are the reference product's names of time zones, in lower case. They are
// accepted beside the names in the time zone database.
var shortZones = map[string]string{
	"utc":            "UTC",
	"gmt":            "Europe/London",
	"greenwich":      "Europe/London",
	"western europe": "Europe/Lisbon",
	"central europe": "Europe/Berlin",
	"eastern europe": "Europe/Bucharest",
	"newfoundland":   "America/St_Johns",
	"atlantic":       "America/Halifax",
	"eastern":        "America/New_York",
	"indiana":        "America/Indiana/Indianapolis",
	"central":        "America/Chicago",
	"saskatchewan":   "America/Regina",
	"mountain":       "America/Denver",
	"arizona":        "America/Phoenix",
	"pacific":        "America/Los_Angeles",
	"alaska":         "America/Anchorage",
	"hawaii":         "Pacific/Honolulu",
	"puerto rico":    "America/Puerto_Rico",
	"india":          "Asia/Kolkata",
	"china":          "Asia/Shanghai",
	"japan":          "Asia/Tokyo",
	"singapore":      "Asia/Singapore",
	"aus eastern":    "Australia/Sydney",
	"aus central":    "Australia/Darwin",
	"aus western":    "Australia/Perth",
	"new zealand":    "Pacific/Auckland",
}

// FindZone returns the name of a zone in the time zone database, or false for an unknown zone. It
// accepts the names in the database and the short names of the reference product.
func FindZone(name string) (string, bool) {
	if iana, ok := shortZones[strings.ToLower(strings.TrimSpace(name))]; ok {
		return iana, true
	}
	_, err := tzdb.Load(name)
	return name, err == nil
}

// ChangeZone dates the time zone of a changed person. before and dated are the person's
// present zone and earlier dated zones. By default, a new time zone applies from the present
// day in the old zone on. Earlier days keep their time zones.
func (r *Rules) ChangeZone(d *Draft, before string, dated *commonsv1.PersonZones, now time.Time) error {
	if d.Zones = dated; d.Zone == before && d.zoneFrom == "" {
		return nil
	}
	day, err := civil.ParseDate(d.zoneFrom)
	if d.zoneFrom == "" {
		var clocks civil.Clocks
		if clocks, err = personzone.Clocks(r.zones, before, dated); err == nil {
			day = clocks.At(now).Date
		}
	}
	if err != nil {
		return err
	}
	d.Zones = personzone.Append(before, dated, d.Zone, day.Clamp())
	if len(d.Zones.GetZones()) > maxList {
		return fault.Invalid(CodeBadValue, fmt.Sprintf("jobAssignment.jobAssignmentDetails.timeZoneName: a person can have at most %d time zones, one after the other.", maxList))
	}
	return nil
}
