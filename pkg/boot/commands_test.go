package boot

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
)

type commandSettings struct {
	Common
	Commands

	Serve struct {
		Color    string `default:"red" help:"A color."`
		LampHue  string `help:"A hue | or none."`
		LampSize int    `required:"" help:"A size."`
	} `cmd:"" help:"Serve."`
}

func TestCommandsOfEveryProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"version":          {[]string{"version"}, []string{"Rotaloom ", "time zones " + tzdb.Version()}},
		"version, as flag": {[]string{"--version"}, []string{"Rotaloom ", "time zones " + tzdb.Version()}},
		"version of a command that lacks a setting": {[]string{"serve", "--version"}, []string{"Rotaloom "}},
		"settings": {[]string{"settings"}, []string{
			"### `rotaloom-test`", "| `--log-level` | `ROTALOOM_LOG_LEVEL` | `info` | Lowest level",
			"### `rotaloom-test serve`", "| `--color` | `ROTALOOM_COLOR` | `red` | A color. |\n",
			"| `--lamp-hue` | `ROTALOOM_LAMP_HUE` |  | A hue \\| or none. |\n", "| `--lamp-size` | `ROTALOOM_LAMP_SIZE` | `required` | A size. |\n",
		}},
		"help in groups": {[]string{"serve", "--help"}, []string{"\nLog\n", "\nLamp\n", "$ROTALOOM_LAMP_HUE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(c.args...)
			code := p.run(&commandSettings{}, func(context.Context, *App) error { return errors.New("started") })
			assert.Equal(t, exitOK, code, p.errs.String())
			for _, want := range c.want {
				assert.Contains(t, p.out.String(), want)
			}
			assert.Empty(t, p.errs.String())
		})
	}
}

// Not parallel: it changes the environment.
func TestTheVersionOfADeploymentIsNoFlag(t *testing.T) {
	t.Setenv("ROTALOOM_VERSION", "7")
	p := newProgram("--color=red")
	assert.Equal(t, exitFailed, p.run(&testSettings{}, func(context.Context, *App) error { return errors.New("started") }))
	assert.Contains(t, p.errs.String(), "started")
}

func TestOperatorsSeeTheBuild(t *testing.T) {
	t.Parallel()
	registry := obs.NewRegistry()
	require.NoError(t, registry.Register(buildInfo()))
	server := httptest.NewServer(AdminHandler(AdminConfig{}, NewChecks(), registry))
	defer server.Close()
	for path, want := range map[string]string{
		"/readyz":  `"timeZones":"` + tzdb.Version() + `"`,
		"/metrics": `time_zones="` + tzdb.Version() + `"`,
	} {
		t.Run(path, func(t *testing.T) {
			response, err := http.Get(server.URL + path)
			require.NoError(t, err)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, errors.Join(err, response.Body.Close()))
			assert.Contains(t, string(body), want, path)
		})
	}
}

// Scrapers that request OpenMetrics get the traces of slow requests.
func TestMetricsHaveExemplars(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	slow := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "some_seconds", Help: "Some.", Buckets: []float64{1}})
	registry.MustRegister(slow)
	slow.(prometheus.ExemplarObserver).ObserveWithExemplar(0.5, prometheus.Labels{"trace_id": "0af7"})
	server := httptest.NewServer(AdminHandler(AdminConfig{}, NewChecks(), registry))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/metrics", nil)
	require.NoError(t, err)
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	assert.Contains(t, string(body), `# {trace_id="0af7"} 0.5`)
}
