package seed

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

//go:embed setup.json
var setupJSON []byte

// setup are objects of the configuration that one operation creates.
type setup struct {
	Path string `json:"path"`
	// Taken is the error code for an existing name.
	Taken string            `json:"taken"`
	Items []json.RawMessage `json:"items"`
}

// holidayRegions are the countries with sites and public holidays that the server knows.
var holidayRegions = []string{"CH", "US"}

// createSetup creates location types, pay codes, work rules, pay rules, accruals, and the holidays of two countries
// in the year of the demonstration and the next one.
func createSetup(ctx context.Context, c *Client, today time.Time) error {
	var all []setup
	if err := json.Unmarshal(setupJSON, &all); err != nil {
		return fmt.Errorf("setup.json: %w", err)
	}
	for _, s := range all {
		for _, item := range s.Items {
			if err := c.call(ctx, http.MethodPost, s.Path, item, nil); err != nil && !hasCode(err, s.Taken) {
				return err
			}
		}
	}
	for _, region := range holidayRegions {
		body := object{"region": region, "years": []int{today.Year(), today.Year() + 1}}
		if err := c.call(ctx, http.MethodPost, "/v1/commons/setup/holidays/apply_import", body, nil); err != nil {
			return err
		}
	}
	return nil
}

// hasCode reports whether a response refuses a request with an error code, for example because an earlier run has
// created the object.
func hasCode(err error, code string) bool {
	var r *refused
	var failure struct {
		ErrorCode string `json:"errorCode"`
	}
	return errors.As(err, &r) && json.Unmarshal(r.body, &failure) == nil && failure.ErrorCode == code
}
