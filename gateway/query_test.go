package gateway

import (
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
