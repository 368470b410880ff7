package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/gateway/idempotencykey"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestARequestThatComesAgainGetsTheFirstResponse(t *testing.T) {
	t.Parallel()
	f, calls := counting(nothingElse)
	s, book := serveKeys(t, Config{}, f)
	first := userCall(t, s, "POST", shiftsPath, `{"label":"a"}`, idempotencykey.Header, `"k-1"`)
	require.Equal(t, 200, first.status, first.body)
	assert.Equal(t, "/v1/things/1", first.header.Get("Content-Location"))
	assert.Empty(t, first.header.Get(headerReplayed))
	assert.Equal(t, "Bearer abc", book.user, "keys are claimed in the name of the user")

	again := userCall(t, s, "POST", "/api"+shiftsPath, `{"label":"a"}`, idempotencykey.Header, "k-1")
	assert.Equal(t, first.status, again.status)
	assert.Equal(t, first.body, again.body)
	for _, name := range []string{"Content-Location", "Content-Type", "Content-Length"} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, first.header.Get(name), again.header.Get(name), name)
		})
	}
	assert.Equal(t, "true", again.header.Get(headerReplayed))
	assert.NotEqual(t, first.header.Get("X-Request-Id"), again.header.Get("X-Request-Id"))
	assert.Equal(t, 1, calls())

	for name, other := range map[string]reply{
		"another body":  userCall(t, s, "POST", shiftsPath, `{"label":"b"}`, idempotencykey.Header, "k-1"),
		"another query": userCall(t, s, "POST", shiftsPath+"?", `{"label":"a" }`, idempotencykey.Header, "k-1"),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, 422, other.status, name)
			assert.Contains(t, other.body, fault.CodeKeyReused)
		})
	}
	assert.Equal(t, 401, call(t, s, "POST", shiftsPath, `{"label":"a"}`, idempotencykey.Header, "k-1").status, "without a token")
	assert.Equal(t, 200, userCall(t, s, "POST", shiftsPath, `{"label":"a"}`).status, "without a key")
	assert.Equal(t, 200, userCall(t, s, "POST", shiftsPath, `{"label":"a"}`, idempotencykey.Header, "k-2").status)
	assert.Equal(t, 3, calls())
}

func TestARequestThatRunsIsNotCarriedOutTwice(t *testing.T) {
	t.Parallel()
	entered, gone := make(chan struct{}), make(chan struct{})
	f, calls := counting(func(context.Context, *schedulingv1.Shift) error {
		entered <- struct{}{}
		<-gone
		return nil
	})
	s, _ := serveKeys(t, Config{}, f)
	first := make(chan reply, 1)
	go func() { first <- userCall(t, s, "POST", shiftsPath, `{}`, idempotencykey.Header, "k") }()
	<-entered
	re := userCall(t, s, "POST", shiftsPath, `{}`, idempotencykey.Header, "k")
	assert.Equal(t, 409, re.status)
	assert.Contains(t, re.body, fault.CodeKeyRunning)
	assert.Equal(t, "1", re.header.Get("Retry-After"))
	close(gone)
	assert.Equal(t, 200, (<-first).status)
	assert.Equal(t, 1, calls())
}

// The client loses its connection, which is why there are keys at all.
func TestARequestGoesOnWhenItsClientHasGone(t *testing.T) {
	t.Parallel()
	entered, goOn := make(chan struct{}), make(chan struct{})
	f, calls := counting(func(ctx context.Context, _ *schedulingv1.Shift) error {
		entered <- struct{}{}
		<-goOn
		return ctx.Err()
	})
	s, book := serveKeys(t, Config{}, f)
	ctx, cancel := context.WithCancel(t.Context())
	lost := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, "POST", s.URL+shiftsPath, strings.NewReader(`{"label":"a"}`))
		if err == nil {
			r.Header.Set(idempotencykey.Header, "k")
			r.Header.Set("Authorization", "abc")
			_, err = s.Client().Do(r)
		}
		lost <- err
	}()
	<-entered
	cancel()
	require.Error(t, <-lost)
	close(goOn)
	<-book.settled
	re := userCall(t, s, "POST", shiftsPath, `{"label":"a"}`, idempotencykey.Header, "k")
	assert.Equal(t, 200, re.status)
	assert.JSONEq(t, `[{"id":1,"label":"a"}]`, re.body)
	assert.Equal(t, 1, calls())
}

func TestStoredErrorResponses(t *testing.T) {
	t.Parallel()
	for i, test := range []struct {
		err    *fault.Error
		stored bool
	}{
		{fault.Invalid("WRL-1", "Wrong."), true},
		{fault.NotFound("WRL-1", "Nothing."), true},
		{fault.Conflict(fault.CodeStale, "Changed."), true},
		{fault.New("WRL-1", 422, "No."), true},
		{fault.TooLarge(fault.CodeItemLimit, "Many."), true},
		{fault.Unauthenticated(fault.CodeUnauthenticated, "Who?"), false},
		{fault.Forbidden(fault.CodeNoAccess, "No."), false},
		{fault.TooMany("Often.", 0), false},
		{fault.Unavailable("Away.", 0), false},
		{fault.Internal(nil), false},
		{fault.New(fault.CodeDeadline, 504, "Late."), false},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			f, calls := counting(func(context.Context, *schedulingv1.Shift) error { return test.err.GRPCStatus().Err() })
			s, _ := serveKeys(t, Config{}, f)
			first := userCall(t, s, "POST", shiftsPath, `{}`, idempotencykey.Header, "k")
			again := userCall(t, s, "POST", shiftsPath, `{}`, idempotencykey.Header, "k")
			assert.Equal(t, test.err.Status, first.status)
			assert.Equal(t, first.status, again.status)
			assert.Equal(t, withoutRequestID(first.body), withoutRequestID(again.body))
			assert.Equal(t, test.stored, first.body == again.body, "a stored error keeps the id of the request that was carried out")
			assert.Equal(t, test.stored, calls() == 1, "%d: %d calls", test.err.Status, calls())
			assert.Equal(t, test.stored, again.header.Get(headerReplayed) == "true")
		})
	}
}

func TestOnlySmallResponsesAreKept(t *testing.T) {
	t.Parallel()
	calls := 0
	f := &fakes{createShifts: func(ctx context.Context, _ *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
		calls++
		return manyShifts(), rpc.SetContentLocation(ctx, "/v1/here")
	}}
	s, _ := serveKeys(t, Config{StoredResponse: 100}, f)
	first := userCall(t, s, "POST", shiftsPath, `{}`, idempotencykey.Header, "k")
	require.Equal(t, 200, first.status)
	assert.Greater(t, len(first.body), 100_000, "the response is whole")
	again := userCall(t, s, "POST", shiftsPath, `{}`, idempotencykey.Header, "k")
	assert.Equal(t, 409, again.status)
	assert.Contains(t, again.body, fault.CodeResponseNotStored)
	assert.Contains(t, again.body, "status 200")
	assert.Equal(t, "/v1/here", again.header.Get("Content-Location"))
	assert.Equal(t, 1, calls)
}

func TestResponsesWithoutABodyAreKept(t *testing.T) {
	t.Parallel()
	calls := 0
	f := &fakes{deleteShift: func(context.Context, *schedulingv1.DeleteShiftRequest) (*emptypb.Empty, error) {
		calls++
		return &emptypb.Empty{}, nil
	}}
	s, _ := serveKeys(t, Config{}, f)
	for range 2 {
		re := userCall(t, s, "DELETE", shiftsPath+"/7", "", idempotencykey.Header, "k")
		assert.Equal(t, 204, re.status)
		assert.Empty(t, re.body)
		assert.Empty(t, re.header.Get("Content-Type"))
	}
	assert.Equal(t, 422, userCall(t, s, "DELETE", shiftsPath+"/8", "", idempotencykey.Header, "k").status, "another shift")
	assert.Equal(t, 1, calls)
}

func TestAResponseThatCannotBeKeptIsGiven(t *testing.T) {
	t.Parallel()
	f, calls := counting(nothingElse)
	s, book := serveKeys(t, Config{}, f)
	book.broken = true
	assert.Equal(t, 200, userCall(t, s, "POST", shiftsPath, `{}`, idempotencykey.Header, "k").status)
	assert.Equal(t, 409, userCall(t, s, "POST", shiftsPath, `{}`, idempotencykey.Header, "k").status)
	assert.Equal(t, 1, calls())
}

// A database that is replaced is away for some seconds. The key must not stay claimed for as
// long as its lease, whatever the response was.
func TestAKeyIsSettledOnceItsServiceIsBack(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]bool{"carried out": false, "unavailable": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, calls := counting(func(context.Context, *schedulingv1.Shift) error {
				if refused {
					return fault.Unavailable("Away.", 0).GRPCStatus().Err()
				}
				return nil
			})
			s, book := serveKeys(t, Config{}, f)
			book.unavailable = 2
			first := userCall(t, s, "POST", shiftsPath, `{}`, idempotencykey.Header, "k")
			again := userCall(t, s, "POST", shiftsPath, `{}`, idempotencykey.Header, "k")
			assert.Equal(t, first.status, again.status)
			assert.Equal(t, withoutRequestID(first.body), withoutRequestID(again.body))
			want := map[bool]int{false: 1, true: 2}[refused]
			assert.Equal(t, want, calls())
		})
	}
}

func TestARequestWithAKeyThatPanicsGivesItBack(t *testing.T) {
	t.Parallel()
	book := &memoryKeyStore{rows: map[string]*keyRow{}, settled: make(chan string, 10)}
	own := &inner{keys: book}
	conns := all(&panicking{})
	conns.Own = own
	edge, err := newTrusting(Config{}, conns, discard())
	require.NoError(t, err)
	w := httptest.NewRecorder()
	r := newHTTPRequest("POST", shiftsPath, `{}`)
	r.Header.Set(idempotencykey.Header, "k")
	r.Header.Set("Authorization", "abc")
	edge.ServeHTTP(w, r)
	assert.Equal(t, 500, w.Code)
	assert.Contains(t, w.Body.String(), fault.CodeInternal)
	assert.Empty(t, book.rows)
}

// inner calls the book without a network.
type inner struct {
	recorder
	keys *memoryKeyStore
}

func (i *inner) Invoke(ctx context.Context, _ string, args, reply any, _ ...grpc.CallOption) error {
	var response proto.Message
	var err error
	switch r := args.(type) {
	case *platformv1.ClaimIdempotencyKeyRequest:
		response, err = i.keys.ClaimIdempotencyKey(ctx, r)
	case *platformv1.SettleIdempotencyKeyRequest:
		response, err = i.keys.SettleIdempotencyKey(ctx, r)
	}
	if err == nil {
		proto.Merge(reply.(proto.Message), response)
	}
	return err
}

func TestFormOfKeys(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`8e03978e-40d5-43dd-bc93-6894a57f9324`:   "8e03978e-40d5-43dd-bc93-6894a57f9324",
		`"8e03978e-40d5-43dd-bc93-6894a57f9324"`: "8e03978e-40d5-43dd-bc93-6894a57f9324",
		`"with spaces, and \"more\\\""`:          `with spaces, and "more\"`,
		strings.Repeat("x", 255):                 strings.Repeat("x", 255),
		"":                                       "",
		`""`:                                     "",
		`"`:                                      "",
		`"a`:                                     "",
		`a"`:                                     "",
		`"a\n"`:                                  "",
		`"a\`:                                    "",
		`"a"b"`:                                  "",
		`"a";p=1`:                                "",
		"a b":                                    "",
		"a,b":                                    "",
		"ä":                                      "",
		"\"\x01\"":                               "",
		strings.Repeat("x", 256):                 "",
	} {
		t.Run(value, func(t *testing.T) {
			got, bad := idempotencykey.Parse(http.Header{idempotencykey.Header: {value}})
			assert.Equal(t, want, got, "%q", value)
			assert.Equal(t, want == "", bad != nil, "%q", value)
		})
	}
	_, bad := idempotencykey.Parse(http.Header{idempotencykey.Header: {"a", "b"}})
	assert.NotNil(t, bad)

	f, calls := counting(nothingElse)
	s, _ := serveKeys(t, Config{}, f)
	re := userCall(t, s, "POST", shiftsPath, `{}`, idempotencykey.Header, "a b")
	assert.Equal(t, 400, re.status)
	assert.Contains(t, re.body, fault.CodeKey)
	assert.Zero(t, calls())
}

func TestReadsIgnoreKeys(t *testing.T) {
	t.Parallel()
	s, book := serveKeys(t, Config{}, &fakes{getShift: func(context.Context, *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error) {
		return &schedulingv1.Shift{}, nil
	}})
	assert.Equal(t, 200, userCall(t, s, "GET", shiftsPath+"/7", "", idempotencykey.Header, "a b").status)
	assert.Empty(t, book.rows)
}

// Every operation that writes takes a key, and none that returns a secret. The
// silent ones take secrets in messages that they return without these.
func TestOperationsThatTakeKeys(t *testing.T) {
	t.Parallel()
	edge, err := newTrusting(Config{}, all(&recorder{}), discard())
	require.NoError(t, err)
	taken := 0
	for r := range edge.routes.All() {
		// Operations on the caller's own data need no permission.
		writes := strings.HasSuffix(r.Policy.Permission, ".write") || r.Policy.Permission == "" && r.Method == http.MethodDelete
		silent := strings.Contains(r.Policy.Name, ".PersonService/") || strings.HasSuffix(r.Policy.Name, "/UpdateClient") ||
			strings.HasSuffix(r.Policy.Name, "/UpdateWebhook")
		assert.False(t, hasSecret(r.Policy.Output, 3) && r.TakesKey() && !silent, "%s returns a secret: it must be confidential", r.Policy.Name)
		assert.Equal(t, writes && !r.Policy.Confidential, r.TakesKey(), "%s %s", r.Method, r.Policy.Name)
		if r.TakesKey() {
			taken++
		}
	}
	assert.Greater(t, taken, 15)
}

// hasSecret reports whether a message may hold a secret, by the names of its
// fields.
func hasSecret(m protoreflect.MessageDescriptor, depth int) bool {
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		name := string(f.Name())
		if strings.HasSuffix(name, "secret") || strings.HasSuffix(name, "password") || strings.HasSuffix(name, "_token") {
			return true
		}
		if f.Message() != nil && depth > 0 && hasSecret(f.Message(), depth-1) {
			return true
		}
	}
	return false
}
