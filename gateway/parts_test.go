package gateway

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
	"github.com/rotaloom/rotaloom/pkg/testkit/authntest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const schedulePath = "/v1/scheduling/schedule/multi_read"

// schedules returns reads in parts that the test chooses; the method returns the last one. A failure replaces
// the last part.
type schedules struct {
	schedulingv1.UnimplementedScheduleServiceServer
	parts   []*schedulingv1.Schedule
	failure error
}

func (s *schedules) MultiReadSchedule(ctx context.Context, _ *schedulingv1.MultiReadScheduleRequest) (*schedulingv1.Schedule, error) {
	if !parts.Requested(ctx) {
		return nil, errors.New("the edge takes no parts")
	}
	last := len(s.parts) - 1
	for _, part := range s.parts[:last] {
		wire, err := proto.Marshal(part)
		if err != nil {
			return nil, err
		}
		if _, err := parts.Send(ctx, wire); err != nil {
			return nil, err
		}
	}
	return s.parts[last], s.failure
}

// newShifts is a schedule of some shifts.
func newShifts(from, to int) *schedulingv1.Schedule {
	list := &schedulingv1.ShiftList{}
	for i := from; i < to; i++ {
		list.Shifts = append(list.Shifts, &schedulingv1.Shift{Id: proto.Int64(int64(i)), Label: fmt.Sprint("shift ", i)})
	}
	return &schedulingv1.Schedule{Shifts: list}
}

// overBoth runs a test on an edge that calls in process, and on one that calls
// over the network.
func overBoth(t *testing.T, s *schedules, run func(t *testing.T, client *http.Client, base, token string)) {
	t.Helper()
	for _, name := range []string{"in process", "network"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain, token := tokenChain(t)
			var conn grpc.ClientConnInterface
			if name == "network" {
				conn = dialChain(t, chain, s)
			} else {
				local := rpc.NewLocal(chain)
				schedulingv1.RegisterScheduleServiceServer(local, s)
				conn = local
			}
			front := serveConn(t, conn)
			run(t, front.Client(), front.URL, token)
		})
	}
}

// tokenChain makes a chain, and a token that it lets read schedules.
func tokenChain(t *testing.T) (*rpc.Chain, string) {
	t.Helper()
	return chainFor(t, nil, "scheduling.schedule.read")
}

// chainFor makes a chain with the given policies, and a token with a permission.
func chainFor(t *testing.T, policies *policy.Table, permission string) (*rpc.Chain, string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	keys := authntest.OneKey(public)
	verifier, err := authn.NewVerifier(authn.Config{Issuer: "test", Audience: "rotaloom"}, keys, authn.NoRevocations{}, clock.System{})
	require.NoError(t, err)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, nil)
	require.NoError(t, err)
	claims := authn.Claims{
		Claims: jwt.Claims{Issuer: "test", Subject: "ada", Audience: jwt.Audience{"rotaloom"}, ID: "1", Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour))},
		Tenant: 7, Permissions: []string{permission},
	}
	token, err := claims.Sign(signer)
	require.NoError(t, err)
	chain, err := rpc.NewChain(rpc.Config{}, rpc.Deps{Log: discard(), Metrics: prometheus.NewRegistry(), Verifier: verifier, Clock: clock.System{}, Policies: policies})
	require.NoError(t, err)
	return chain, token
}

func dialChain(t *testing.T, chain *rpc.Chain, s *schedules) *grpc.ClientConn {
	t.Helper()
	return dialServer(t, chain, func(to grpc.ServiceRegistrar) { schedulingv1.RegisterScheduleServiceServer(to, s) })
}

// dialServer starts a server on the network, and returns a connection to it.
func dialServer(t *testing.T, chain *rpc.Chain, register func(grpc.ServiceRegistrar)) *grpc.ClientConn {
	t.Helper()
	server, err := rpc.NewServer(chain, nil, true)
	require.NoError(t, err)
	register(server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx, listener, time.Second) }()
	conn, err := client.Dial(client.Config{Target: listener.Addr().String(), Insecure: true})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		stop()
		assert.NoError(t, <-served)
	})
	return conn
}

func scheduleRequest(t *testing.T, base, token string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+schedulePath, strings.NewReader(`{}`))
	require.NoError(t, err)
	r.Header.Set("Authorization", token)
	return r
}

func TestResponsesInPartsAreJoined(t *testing.T) {
	t.Parallel()
	s := &schedules{parts: []*schedulingv1.Schedule{
		newShifts(0, 2000), newShifts(2000, 2001), newShifts(2001, 5000),
		{OpenShifts: &schedulingv1.ShiftList{}, DayLocks: &schedulingv1.DayLockList{}},
	}}
	overBoth(t, s, func(t *testing.T, client *http.Client, base, token string) {
		re := send(t, client, scheduleRequest(t, base, token))
		require.Equal(t, http.StatusOK, re.status, re.body)
		assert.Equal(t, contentType, re.header.Get("Content-Type"))
		var got struct {
			Shifts []struct {
				ID    int
				Label string
			}
			OpenShifts, DayLocks []any
		}
		require.NoError(t, json.Unmarshal([]byte(re.body), &got))
		require.Len(t, got.Shifts, 5000)
		for i, shift := range got.Shifts {
			require.Equal(t, i, shift.ID)
			require.Equal(t, fmt.Sprint("shift ", i), shift.Label)
		}
		assert.NotNil(t, got.OpenShifts)
		assert.NotNil(t, got.DayLocks)
	})
}

func TestResponsesOfOneSmallPart(t *testing.T) {
	t.Parallel()
	s := &schedules{parts: []*schedulingv1.Schedule{newShifts(1, 2)}}
	overBoth(t, s, func(t *testing.T, client *http.Client, base, token string) {
		re := send(t, client, scheduleRequest(t, base, token))
		assert.Equal(t, http.StatusOK, re.status)
		assert.JSONEq(t, `{"shifts":[{"id":1,"label":"shift 1"}]}`, re.body)
		assert.NotEmpty(t, re.header.Get("Content-Length"))
	})
}

// An error before anything was written is an error as any other; after that the
// response must not look whole.
func TestResponsesInPartsThatFail(t *testing.T) {
	t.Parallel()
	failure := fault.Invalid("WRL-1", "Wrong.")
	early := &schedules{parts: []*schedulingv1.Schedule{newShifts(0, 3), {}}, failure: failure}
	overBoth(t, early, func(t *testing.T, client *http.Client, base, token string) {
		re := send(t, client, scheduleRequest(t, base, token))
		assert.Equal(t, http.StatusBadRequest, re.status)
		assert.JSONEq(t, `{"errorCode":"WRL-1","message":"Wrong."}`, withoutRequestID(re.body))
	})
	late := &schedules{parts: []*schedulingv1.Schedule{newShifts(0, 5000), {}}, failure: failure}
	overBoth(t, late, func(t *testing.T, client *http.Client, base, token string) {
		response, err := client.Do(scheduleRequest(t, base, token))
		require.NoError(t, err)
		defer response.Body.Close()
		_, err = io.ReadAll(response.Body)
		require.Error(t, err, "the response is cut off")
	})
	unordered := &schedules{parts: []*schedulingv1.Schedule{{OpenShifts: &schedulingv1.ShiftList{}}, newShifts(0, 1)}}
	overBoth(t, unordered, func(t *testing.T, client *http.Client, base, token string) {
		assert.Equal(t, http.StatusInternalServerError, send(t, client, scheduleRequest(t, base, token)).status)
	})
}
