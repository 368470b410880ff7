package rules

import (
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// shortZones are the names by which the reference product calls time zones,
// in lower case, beside those of the time zone database.
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

// zoneName returns the name that the time zone database has for a zone, and
// false for an unknown one.
func zoneName(zones *civil.Zones, name string) (string, bool) {
	if iana, ok := shortZones[strings.ToLower(strings.TrimSpace(name))]; ok {
		return iana, true
	}
	zone, err := zones.Get(name)
	if err != nil {
		return "", false
	}
	return zone.Name(), true
}
