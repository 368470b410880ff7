package seed

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The demonstration is made once its schedules show it.
func TestTheChangeOfTheSchedulesIsAwaited(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		states  []string
		refused string
	}{
		"at once":         {[]string{"FINISHED"}, ""},
		"after a while":   {[]string{"ACCEPTED", "RUNNING", "RUNNING", "FINISHED"}, ""},
		"it has failed":   {[]string{"RUNNING", "FAILED"}, "no space left"},
		"it is not there": {[]string{""}, "returned 404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				state := test.states[min(requests, len(test.states)-1)]
				requests++
				if state == "" {
					http.NotFound(w, r)
					return
				}
				fmt.Fprintf(w, `{"id": 7, "state": %q, "error": "no space left"}`, state)
			}))
			defer server.Close()
			err := awaitPropagation(t.Context(), &Client{BaseURL: server.URL, HTTP: server.Client()}, "/v1/scheduling/propagations/7")
			if test.refused == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.refused)
			}
			assert.Equal(t, len(test.states), requests)
		})
	}
}
