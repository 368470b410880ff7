package seed

import (
	"context"
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/pkg/tzdb"
)

// site is a place of work of demonstration persons.
type site struct {
	name, timeZone, payRule string
	// currency is the code of the currency of wage, which is the lowest wage of an hour.
	currency string
	wage     float64
}

var sites = []site{
	{"Zurich", "Europe/Zurich", "Hourly, 45-hour week", "CHF", 31.5},
	{"New York", "America/New_York", "Hourly, 40-hour week", "USD", 24.75},
	{"Sao Paulo", "America/Sao_Paulo", "Hourly, 44-hour week", "BRL", 29},
	{"Tokyo", "Asia/Tokyo", "Hourly, 40-hour week", "JPY", 1850},
}

const (
	// company is the root location.
	company = "Demo"
	job     = "Operator"
	// office is the job of the staff that does not work by a rotation.
	office = "Office"
	// nameTaken is commons' error code for an existing name.
	nameTaken = "WRL-10204"
	// notUnique is commons' error code for an existing person.
	notUnique = "WCO-101247"
)

// path returns the organization path of a job at the site.
func (s site) path(job string) string { return company + "/" + s.name + "/" + job }

// clock returns the time that a clock at the site shows, with UTC as its zone. Civil times of the site can be
// compared with it.
func (s site) clock(now time.Time) (time.Time, error) {
	zone, err := tzdb.Load(s.timeZone)
	if err != nil {
		return time.Time{}, err
	}
	now = now.In(zone)
	return time.Date(now.Year(), now.Month(), now.Day(), now.Hour(), now.Minute(), now.Second(), 0, time.UTC), nil
}

// createPlaces creates the jobs and the locations. It creates all locations with one call, so that the first one
// reports whether they exist.
func createPlaces(ctx context.Context, c *Client) error {
	locations := []object{{"name": company, "orgNodeTypeRef": object{"qualifier": "Company"}}}
	for _, s := range sites {
		at := object{"qualifier": company + "/" + s.name}
		locations = append(locations,
			object{"name": s.name, "parentNodeRef": object{"qualifier": company}, "orgNodeTypeRef": object{"qualifier": "Site"}},
			object{"name": job, "parentNodeRef": at, "orgNodeTypeRef": object{"qualifier": "Job"}, "genericJobRef": object{"qualifier": job}},
			object{"name": office, "parentNodeRef": at, "orgNodeTypeRef": object{"qualifier": "Job"}, "genericJobRef": object{"qualifier": office}})
	}
	for _, name := range []string{job, office} {
		if err := c.call(ctx, http.MethodPost, "/v1/commons/jobs", object{"name": name}, nil); err != nil && !hasCode(err, nameTaken) {
			return err
		}
	}
	if err := c.call(ctx, http.MethodPost, "/v1/commons/locations/multi_create", locations, nil); err != nil && !hasCode(err, nameTaken) {
		return err
	}
	return nil
}
