package operation

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// maxSeries is the maximum number of metric series of a process that has created the demonstration.
const maxSeries = 1_500

// checkSeries bounds the metric series: each of them costs memory in the process and in Prometheus.
func (c company) checkSeries(t *testing.T) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, adminURL(t, c.Server)+"/metrics", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	series := len(regexp.MustCompile(`(?m)^[^#\n]`).FindAll(text, -1))
	t.Logf("%d metric series", series)
	assert.NotZero(t, series)
	assert.LessOrEqual(t, series, maxSeries)
}

// adminURL returns the URL of the server's listener for operators.
func adminURL(t *testing.T, server *launch.Server) string {
	t.Helper()
	log, err := os.ReadFile(server.Log)
	require.NoError(t, err)
	found := regexp.MustCompile(`"msg":"admin listener","address":"([^"]+)"`).FindSubmatch(log)
	require.NotNil(t, found)
	return "http://" + string(found[1])
}
