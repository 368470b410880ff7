package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/gateway/metrics"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// The caller of a log-in has no token yet, so the service reports whom the new one belongs to.
func TestLogInsAreLoggedWithTheirUser(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := &fakes{tokens: tokens{issue: func(ctx context.Context, r *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
		for _, user := range []string{"zoë & co", r.GetUsername()} {
			if err := rpc.SetTokenOwner(ctx, rpc.TokenOwner{Tenant: 7, User: user, Client: "planner"}); err != nil {
				return nil, err
			}
		}
		if r.GetPassword() != "right" {
			return nil, fault.Unauthenticated("WRL-1", "No.").GRPCStatus().Err()
		}
		return &authv1.IssueTokenResponse{AccessToken: "t"}, nil
	}}}
	edge, err := newTrusting(Config{}, connsTo(t, f), slog.New(obs.NewHandler(slog.NewJSONHandler(&log, nil))))
	require.NoError(t, err)
	for password, want := range map[string]map[string]any{
		"right": {"status": 200., "tenant": 7., "user": "Zoë", "client": "planner"},
		"wrong": {"status": 401., "tenant": nil, "user": nil, "client": nil},
	} {
		t.Run(password, func(t *testing.T) {
			log.Reset()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://localhost/api/authentication/access_token",
				strings.NewReader("grant_type=password&username=Zo%C3%AB&password="+password+"&client_id=planner&client_secret=s"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			edge.ServeHTTP(w, r)
			var line map[string]any
			require.NoError(t, json.Unmarshal(log.Bytes(), &line), log.String())
			for key, value := range want {
				assert.Equal(t, value, line[key], key)
			}
			assert.Empty(t, w.Header().Get(rpc.HeaderIssuedTo))
		})
	}
}

// Each request has one line, which tells who sent what, without the query.
func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	ada := &authn.Principal{Tenant: 7, Subject: "ada", Client: "planner"}
	long := "/v1/" + strings.Repeat("ä", 200)
	for name, c := range map[string]struct {
		target string
		caller *authn.Principal
		fault  *fault.Error
		level  string
		want   map[string]any
	}{
		"a success": {"/v1/commons/persons/3?name=Ada", ada, nil, "INFO", map[string]any{
			"method": "GET", "path": "/v1/commons/persons/3", "status": 200., "tenant": 7., "user": "ada", "client": "planner", "error": nil,
		}},
		"an unknown path": {"/v1/nothing", ada, fault.NotFound("WRL-1", "There is no such path."), "INFO", map[string]any{
			"path": "/v1/nothing", "status": 404., "error": "WRL-1: There is no such path.",
		}},
		"a path that is too long for the log": {long, nil, fault.NotFound("WRL-1", "No."), "INFO", map[string]any{
			"path": "/v1/" + strings.Repeat("ä", 98), "user": nil, "client": nil, "tenant": nil,
		}},
		"a fault of the server": {"/v1/x", ada, fault.Internal(assert.AnError), "ERROR", map[string]any{"status": 500.}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counted, err := metrics.New(prometheus.NewRegistry())
			require.NoError(t, err)
			var log bytes.Buffer
			h := &accessLog{log: slog.New(obs.NewHandler(slog.NewJSONHandler(&log, nil))), metrics: counted, next: func(_ context.Context, w *response, r *request) {
				r.caller = c.caller
				if c.fault != nil {
					w.fail(c.fault)
					return
				}
				_, _ = w.Write([]byte("{}"))
			}}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.target, http.NoBody))
			var line map[string]any
			require.NoError(t, json.Unmarshal(log.Bytes(), &line), log.String())
			assert.Equal(t, c.level, line["level"])
			for key, want := range c.want {
				assert.Equal(t, want, line[key], key)
			}
			assert.Equal(t, w.Header().Get("X-Request-Id"), line["request_id"])
			if c.fault != nil {
				assert.Contains(t, w.Body.String(), `"requestId":"`+w.Header().Get("X-Request-Id")+`"`)
			}
			assert.NotContains(t, log.String(), "Ada")
		})
	}
}
