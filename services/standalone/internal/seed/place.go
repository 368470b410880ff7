package seed

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// site is where demonstration persons work, and the time zone that they live by.
type site struct{ name, timeZone string }

var sites = []site{
	{"Zurich", "Europe/Zurich"}, {"New York", "America/New_York"}, {"Sao Paulo", "America/Sao_Paulo"}, {"Tokyo", "Asia/Tokyo"},
}

const (
	// company is the root of the locations.
	company = "Demo"
	job     = "Operator"
	// taken is the code of a name that something has already.
	taken = "WRL-10204"
	// notUnique is the code of commons for a person who is there already.
	notUnique = "WCO-101247"
)

// path is the organization path of the job at the site.
func (s site) path() string { return company + "/" + s.name + "/" + job }

// createPlaces creates the job, and the locations: all of them by one call, so
// that the first reports whether they are there.
func createPlaces(ctx context.Context, c *Client) error {
	locations := []object{{"name": company}}
	for _, s := range sites {
		locations = append(locations,
			object{"name": s.name, "parentNodeRef": object{"qualifier": company}},
			object{"name": job, "parentNodeRef": object{"qualifier": company + "/" + s.name}, "genericJobRef": object{"qualifier": job}})
	}
	if err := c.call(ctx, http.MethodPost, "/v1/commons/jobs", object{"name": job}, nil); err != nil && !isTaken(err) {
		return err
	}
	if err := c.call(ctx, http.MethodPost, "/v1/commons/locations/multi_create", locations, nil); err != nil && !isTaken(err) {
		return err
	}
	return nil
}

// isTaken reports whether a creation failed because an earlier run has made it.
func isTaken(err error) bool {
	var r *refused
	var failure struct {
		ErrorCode string `json:"errorCode"`
	}
	return errors.As(err, &r) && json.Unmarshal(r.body, &failure) == nil && failure.ErrorCode == taken
}
