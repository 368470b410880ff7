package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A list parameter without any item is none.
func TestEmptyListsInQueries(t *testing.T) {
	t.Parallel()
	services := &recorder{}
	edge, err := newTrusting(Config{}, all(services), discard())
	require.NoError(t, err)
	for _, query := range []string{"select=", "select=,", "select=%20", "select=%09%0A,%20", "select=,&select="} {
		t.Run(query, func(t *testing.T) {
			w := httptest.NewRecorder()
			r := newHTTPRequest(http.MethodGet, "/v1/scheduling/schedule?"+query, "")
			r.Body = http.NoBody
			edge.ServeHTTP(w, r)
			assert.Contains(t, services.take(), "/rotaloom.scheduling.v1.ScheduleService/", "%s: the service is asked: %s", query, w.Body)
		})
	}
}

// All wrong parameters of a query are reported, the first in the alphabet as the error.
func TestAllFaultsOfAQueryAreListed(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{}, &fakes{})
	for range 10 { // The parameters have no order.
		re := call(t, s, "GET", "/v1/scheduling/schedule?location_id=two&exclude_breaks=maybe&employee_id=one&unknown=1&select=SHIFTS", "")
		require.Equal(t, 400, re.status, re.body)
		var got struct {
			ErrorCode string
			Details   struct {
				Violations []struct{ Path, ErrorCode, Message string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(re.body), &got))
		assert.Equal(t, "WFP-90010", got.ErrorCode)
		require.Len(t, got.Details.Violations, 3)
		for i, want := range []string{"employee_id", "exclude_breaks", "location_id"} {
			assert.Equal(t, want, got.Details.Violations[i].Path)
		}
		assert.Equal(t, `The query parameter "employee_id" cannot be "one".`, got.Details.Violations[0].Message)
	}
}
