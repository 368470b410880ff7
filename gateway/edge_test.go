package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/gateway/apidocs"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/sizes"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const shiftsPath = "/v1/scheduling/schedule/shifts"

func TestRequestAndResponsePassThrough(t *testing.T) {
	t.Parallel()
	var got *schedulingv1.UpdateShiftRequest
	f := &fakes{updateShift: func(_ context.Context, r *schedulingv1.UpdateShiftRequest) (*schedulingv1.Shift, error) {
		got = r
		return &schedulingv1.Shift{Id: proto.Int64(r.GetId()), Label: r.GetShift().GetLabel(), Generated: proto.Bool(false)}, nil
	}}
	s := serve(t, Config{}, f)
	re := call(t, s, "POST", "/api"+shiftsPath+"/42", `{"id":"7","label":20108,"employee":{"qualifier":"A-1"},"segments":{"type":"x"}}`)
	require.Equal(t, 200, re.status, re.body)
	assert.JSONEq(t, `{"id":42,"label":"20108","generated":false}`, re.body)
	assert.Equal(t, "application/json;charset=utf-8", re.header.Get("Content-Type"))
	assert.NotEmpty(t, re.header.Get("Strict-Transport-Security"))
	want := &schedulingv1.UpdateShiftRequest{Id: 42, Shift: &schedulingv1.Shift{
		Id: proto.Int64(7), Label: "20108", Employee: &commonv1.Ref{Qualifier: proto.String("A-1")},
		Segments: []*schedulingv1.ShiftSegment{{Type: "x"}},
	}}
	assert.True(t, proto.Equal(want, got), "%v", got)
}

func TestBodyAndQueryTogether(t *testing.T) {
	t.Parallel()
	var got *schedulingv1.MultiCreateShiftsRequest
	f := &fakes{multiCreate: func(_ context.Context, r *schedulingv1.MultiCreateShiftsRequest) (*schedulingv1.ShiftList, error) {
		got = r
		// A large read returns bytes that were never a message.
		list := &schedulingv1.ShiftList{}
		b, err := proto.Marshal(&schedulingv1.ShiftList{Shifts: r.GetBody().GetShifts()})
		list.ProtoReflect().SetUnknown(b)
		return list, err
	}}
	s := serve(t, Config{}, f)
	re := call(t, s, "POST", shiftsPath+"/multi_create?partial_success=true", `[{"label":"a"},{"label":"b"}]`)
	require.Equal(t, 200, re.status, re.body)
	assert.JSONEq(t, `[{"label":"a"},{"label":"b"}]`, re.body)
	assert.True(t, got.GetPartialSuccess())
	assert.Len(t, got.GetBody().GetShifts(), 2)

	re = call(t, s, "POST", shiftsPath+"/multi_create", `[]`)
	assert.JSONEq(t, `[]`, re.body)
	assert.Nil(t, got.PartialSuccess)
	assert.NotNil(t, got.Body)
}

func TestStatusesOfSuccess(t *testing.T) {
	t.Parallel()
	failed, err := anypb.New(&schedulingv1.GroupSchedulePatternResult{Status: proto.Bool(true)})
	require.NoError(t, err)
	f := &fakes{
		deleteShift: func(context.Context, *schedulingv1.DeleteShiftRequest) (*emptypb.Empty, error) {
			return &emptypb.Empty{}, nil
		},
		patterns: patterns{applyCreate: func(ctx context.Context, _ *schedulingv1.ApplyCreateGroupSchedulePatternsRequest) (*schedulingv1.GroupSchedulePatternResults, error) {
			err := grpc.SetHeader(ctx, metadata.Pairs(rpc.HeaderHTTPStatus, "207", rpc.HeaderContentLocation, "/v1/scheduling/propagations/9", "secret", "x"))
			return &schedulingv1.GroupSchedulePatternResults{Failure: &commonv1.ErrorBody{
				ErrorCode: "WCO-101272", Message: "Some failed.",
				Details: &commonv1.ErrorDetails{ErrorOffsets: []int32{1}, Results: []*commonv1.BulkResult{{Success: failed}, {Error: &commonv1.ErrorBody{ErrorCode: "WFS-106607"}}}},
			}}, err
		}},
	}
	s := serve(t, Config{}, f)
	re := call(t, s, "DELETE", shiftsPath+"/42", "")
	assert.Equal(t, 204, re.status)
	assert.Empty(t, re.body)
	assert.Empty(t, re.header.Get("Content-Type"))

	re = call(t, s, "POST", "/v1/scheduling/employment_term_schedule_patterns/apply_create", `{}`)
	assert.Equal(t, 207, re.status)
	assert.Equal(t, "/v1/scheduling/propagations/9", re.header.Get("Content-Location"))
	assert.NotContains(t, strings.ToLower(strings.Join(keys(re.header), " ")), "secret")
	assert.JSONEq(t, `{"errorCode":"WCO-101272","message":"Some failed.","details":{"error-offsets":[1],
		"results":[{"success":{"status":true}},{"error":{"errorCode":"WFS-106607"}}]},
		"requestId":"`+re.header.Get("X-Request-Id")+`"}`, re.body)
}

func keys(h http.Header) []string {
	var all []string
	for k := range h {
		all = append(all, k)
	}
	return all
}

func TestHeadersToTheServices(t *testing.T) {
	t.Parallel()
	var got metadata.MD
	f := &fakes{getShift: func(ctx context.Context, _ *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error) {
		got, _ = metadata.FromIncomingContext(ctx)
		return &schedulingv1.Shift{}, nil
	}}
	s := serve(t, Config{}, f)
	for sent, want := range map[string][]string{
		"abc.def": {"Bearer abc.def"}, "Bearer abc": {"Bearer abc"}, "bEARER   abc ": {"Bearer abc"},
		"Basic abc": nil, "Bearer": nil, "Bearer a b": nil, "": nil,
	} {
		t.Run(sent, func(t *testing.T) {
			call(t, s, "GET", shiftsPath+"/1", "", "Authorization", sent)
			assert.Equal(t, want, got.Get("authorization"), "%q", sent)
		})
	}
	re := call(t, s, "GET", shiftsPath+"/1", "", "X-Request-Id", "my-request.1", "Accept-Language", "de-CH", "appkey", "k",
		"scratchpad-id", "1", "api-version", "1.0", "Grpc-Metadata-Tenant", "2", "X-Forwarded-For", "6.6.6.6", "TE", "trailers",
		"Grpc-Timeout", "1n", "Cookie", "a=b")
	require.Equal(t, 200, re.status, re.body)
	assert.Equal(t, "{}", re.body)
	assert.Equal(t, "my-request.1", re.header.Get("X-Request-Id"))
	assert.Equal(t, "my-request.1", re.header.Get("kronos-tid"))
	assert.Equal(t, []string{"my-request.1"}, got.Get("x-request-id"))
	assert.Equal(t, []string{"de-CH"}, got.Get("accept-language"))
	assert.Equal(t, []string{"127.0.0.1"}, got.Get("x-forwarded-for"))
	for _, name := range []string{"tenant", "appkey", "scratchpad-id", "cookie", "grpcgateway-cookie"} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, got.Get(name), name)
		})
	}
	re = call(t, s, "GET", shiftsPath+"/1", "", "X-Request-Id", "not <ok>")
	assert.Len(t, re.header.Get("X-Request-Id"), 36)
	assert.Equal(t, got.Get("x-request-id"), []string{re.header.Get("X-Request-Id")})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	var failure error
	f := &fakes{getShift: func(ctx context.Context, _ *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error) {
		if errors.Is(failure, context.DeadlineExceeded) {
			<-ctx.Done()
		}
		if e := fault.FromError(failure); e != nil && e.Code != fault.CodeDeadline && e.Code != fault.CodeInternal {
			return nil, e.GRPCStatus().Err()
		}
		return nil, failure
	}}
	s, impatient := serve(t, Config{}, f), serve(t, Config{Timeout: 100 * time.Millisecond}, f)
	tests := []struct {
		name   string
		err    error
		status int
		body   string
		header string
	}{
		{"a fault", fault.NotFound("WFS-1", `no "shift"`), 404, `{"errorCode":"WFS-1","message":"no \"shift\""}`, ""},
		{"details", fault.TooLarge("WFP-90003", "m").WithLimits(5, 3), 413, `{"errorCode":"WFP-90003","message":"m","details":{"limits":[{"actual":5,"maximum":3}]}}`, ""},
		{"401", fault.Unauthenticated("WRL-00401", "m"), 401, `{"errorCode":"WRL-00401","message":"m"}`, "Www-Authenticate"},
		{"429", fault.TooMany("m", 3*time.Second), 429, `{"errorCode":"WRL-00429","message":"m"}`, "Retry-After"},
		{"503", fault.New("WRL-00503", 503, "m"), 503, `{"errorCode":"WRL-00503","message":"m"}`, "Retry-After"},
		{"an error of the service", io.ErrUnexpectedEOF, 500, "", ""},
		{"no response in time", context.DeadlineExceeded, 504, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			failure = test.err
			server := s
			if errors.Is(failure, context.DeadlineExceeded) {
				server = impatient
			}
			re := call(t, server, "GET", shiftsPath+"/1", "")
			assert.Equal(t, test.status, re.status, re.body)
			if test.body != "" {
				assert.JSONEq(t, test.body, withoutRequestID(re.body))
			}
			assert.NotContains(t, re.body, "EOF")
			for _, name := range []string{"Www-Authenticate", "Retry-After"} {
				assert.Equal(t, name == test.header, re.header.Get(name) != "", name)
			}
			assert.NotEmpty(t, re.header.Get("kronos-tid"))
		})
	}
}

func TestUnreachableServiceIs503(t *testing.T) {
	t.Parallel()
	conn, err := grpc.NewClient("passthrough:///nowhere", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return nil, io.EOF }))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	edge, err := newTrusting(Config{}, all(conn), discard())
	require.NoError(t, err)
	w := httptest.NewRecorder()
	edge.ServeHTTP(w, newHTTPRequest("GET", shiftsPath+"/1", ""))
	assert.Equal(t, 503, w.Code)
	assert.NotEmpty(t, w.Header().Get("Retry-After"))
	assert.NotContains(t, w.Body.String(), "EOF")
}

func TestBodies(t *testing.T) {
	t.Parallel()
	f := &fakes{createShifts: func(_ context.Context, r *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
		return &schedulingv1.ShiftList{Shifts: []*schedulingv1.Shift{r}}, nil
	}}
	s := serve(t, Config{Body: sizes.Body{BodyLimit: 100}}, f)
	tests := []struct {
		name, body, kind string
		status           int
		code, message    string
	}{
		{"no content type is JSON", `{"label":"a"}`, "", 200, "", ""},
		{"JSON with a charset", `{}`, "application/json; charset=UTF-8", 200, "", ""},
		{"an unknown property", `{"segments":[{},{"orgJobRef":{"foo":1}}]}`, "application/json", 400, fault.CodeUnknownProperty, `\"segments[1].orgJobRef.foo\"`},
		{"a wrong structure", `{"employee":[]}`, "application/json", 400, fault.CodeStructure, "employee"},
		{"no JSON", `{"label":`, "application/json", 400, fault.CodeValue, "at byte 9"},
		{"nothing", ``, "application/json", 400, fault.CodeValue, "at byte 0"},
		{"more than the limit", `{"label":"` + strings.Repeat("x", 100) + `"}`, "application/json", 413, fault.CodeTooLarge, "100 bytes"},
		{"a form", `label=a`, "application/x-www-form-urlencoded", 415, fault.CodeMediaType, "application/json"},
		{"a text", `label`, "text/plain", 415, fault.CodeMediaType, ""},
		{"no media type", `{}`, ";;", 415, fault.CodeMediaType, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			re := call(t, s, "POST", shiftsPath, test.body, "Content-Type", test.kind)
			assert.Equal(t, test.status, re.status, re.body)
			assert.Contains(t, re.body, test.code)
			assert.Contains(t, re.body, test.message)
		})
	}
	t.Run("more than the limit without saying so", func(t *testing.T) {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+shiftsPath, struct{ io.Reader }{strings.NewReader(`{"label":"` + strings.Repeat("x", 100) + `"}`)})
		require.NoError(t, err)
		assert.Equal(t, 413, send(t, s.Client(), r).status)
	})
}

func TestTokenRequests(t *testing.T) {
	t.Parallel()
	f := &fakes{tokens: tokens{issue: func(_ context.Context, r *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
		if r.GetPassword() != "p&w d+" {
			return nil, fault.Invalid("WRL-1", "Wrong.").WithOAuth("invalid_grant").GRPCStatus().Err()
		}
		return &authv1.IssueTokenResponse{AccessToken: "t", ExpiresIn: 1799}, nil
	}}}
	s := serve(t, Config{}, f)
	const path, form = "/api/authentication/access_token", "application/x-www-form-urlencoded"
	tests := []struct {
		name, body, kind string
		status           int
		want             string
	}{
		{"a form", "username=u&password=p%26w+d%2B&unknown=1&grant_type=", form, 200, `{"access_token":"t","expires_in":1799}`},
		{"a form that does not say so", "username=u&password=p%26w+d%2B", "", 200, `{"access_token":"t","expires_in":1799}`},
		{"the same as JSON", `{"username":"u","password":"p&w d+"}`, "application/json", 415, `{"error":"invalid_request","error_description":"The body must be application/x-www-form-urlencoded."}`},
		{"refused", "password=x", form, 400, `{"error":"invalid_grant","error_description":"Wrong."}`},
		{"a field twice", "password=a&password=a", form, 400, `{"error":"invalid_request","error_description":"\"password\" occurs more than once."}`},
		{"another type", "<a/>", "text/xml", 415, `{"error":"invalid_request","error_description":"The body must be application/x-www-form-urlencoded."}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			re := call(t, s, "POST", path, test.body, "Content-Type", test.kind)
			assert.Equal(t, test.status, re.status, re.body)
			assert.JSONEq(t, test.want, withoutRequestID(re.body))
			assert.Equal(t, "no-store", re.header.Get("Cache-Control"))
		})
	}
}

func TestPanicIs500(t *testing.T) {
	t.Parallel()
	edge, err := newTrusting(Config{}, all(&panicking{}), discard())
	require.NoError(t, err)
	w := httptest.NewRecorder()
	edge.ServeHTTP(w, newHTTPRequest("GET", shiftsPath+"/1", ""))
	assert.Equal(t, 500, w.Code)
	assert.NotContains(t, w.Body.String(), "boom")
}

type panicking struct{ recorder }

func (*panicking) Invoke(context.Context, string, any, any, ...grpc.CallOption) error { panic("boom") }

// Every error has the request id that the header and the log have, and the page of its code.
func TestErrorsNameTheirRequestAndTheirPage(t *testing.T) {
	t.Parallel()
	const id = "my-request.1"
	f := &fakes{getShift: func(context.Context, *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error) {
		return nil, fault.Unavailable("Away.", 0)
	}}
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		code               string
	}{
		"an error of a service":        {"GET", shiftsPath + "/1", "", 503, fault.CodeUnavailable},
		"an unknown path":              {"GET", "/v1/nothing", "", 404, fault.CodeNotFound},
		"a method that does not exist": {"PATCH", shiftsPath + "/1", "", 405, fault.CodeMethodNotAllowed},
		"a body that is too large":     {"POST", shiftsPath + "/multi_create", strings.Repeat(" ", 200), 413, fault.CodeTooLarge},
		"a malformed body":             {"POST", shiftsPath + "/multi_create", `[`, 400, fault.CodeValue},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, docs := range []bool{true, false} {
				s := serve(t, Config{Docs: docs, Body: sizes.Body{BodyLimit: 100}}, f)
				re := call(t, s, c.method, c.path, c.body, "X-Request-Id", id)
				require.Equal(t, c.status, re.status, re.body)
				var got struct{ ErrorCode, RequestID, Help string }
				require.NoError(t, json.Unmarshal([]byte(re.body), &got))
				assert.Equal(t, c.code, got.ErrorCode)
				assert.Equal(t, id, got.RequestID)
				assert.Equal(t, id, re.header.Get("X-Request-Id"))
				if !docs {
					assert.Empty(t, got.Help, "a page that is not served")
					continue
				}
				assert.Equal(t, "/docs/errors#"+c.code, got.Help)
				page := httptest.NewRecorder()
				apidocs.Find("/docs/errors").ServeHTTP(page, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs/errors", nil))
				assert.True(t, strings.Contains(page.Body.String(), `<tr id="`+c.code+`">`), "the page explains the code")
			}
		})
	}
}
