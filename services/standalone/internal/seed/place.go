package seed

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// site is a place of work of demonstration persons, with its time zone.
type site struct{ name, timeZone string }

var sites = []site{
	{"Zurich", "Europe/Zurich"}, {"New York", "America/New_York"}, {"Sao Paulo", "America/Sao_Paulo"}, {"Tokyo", "Asia/Tokyo"},
}

const (
	// company is the root location.
	company = "Demo"
	job     = "Operator"
	// nameTaken is the error code for an existing name.
	nameTaken = "WRL-10204"
	// notUnique is commons' error code for an existing person.
	notUnique = "WCO-101247"
)

// path returns the organization path of the job at the site.
func (s site) path() string { return company + "/" + s.name + "/" + job }

// createPlaces creates the job and the locations. It creates all locations with one call, so that the first one
// reports whether they exist.
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

// isTaken reports whether a creation failed because an earlier run has created the object.
func isTaken(err error) bool {
	var r *refused
	var failure struct {
		ErrorCode string `json:"errorCode"`
	}
	return errors.As(err, &r) && json.Unmarshal(r.body, &failure) == nil && failure.ErrorCode == nameTaken
}
