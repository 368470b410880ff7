package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/rotaloom/rotaloom/gateway/lines"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

const timecardsPath = "/v1/timekeeping/timecard/multi_read"

// linesRequest asks for a schedule as lines.
func linesRequest(t *testing.T, base, token string) *http.Request {
	t.Helper()
	r := scheduleRequest(t, base, token)
	r.Header.Set("Accept", lines.ContentType)
	return r
}

// readLines returns the lines of a response, which must end with its last line.
func readLines(t *testing.T, body io.Reader) []string {
	t.Helper()
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	var found []string
	for line := range strings.Lines(string(text)) {
		require.True(t, strings.HasSuffix(line, "\n"), "%q", line)
		require.True(t, json.Valid([]byte(line)), "%q", line)
		found = append(found, strings.TrimSuffix(line, "\n"))
	}
	return found
}

func TestResponsesInPartsAreLines(t *testing.T) {
	t.Parallel()
	s := &schedules{parts: []*schedulingv1.Schedule{
		newShifts(0, 2000), newShifts(2000, 2001), newShifts(2001, 5000),
		{OpenShifts: &schedulingv1.ShiftList{}, DayLocks: &schedulingv1.DayLockList{}},
	}}
	overBoth(t, s, func(t *testing.T, client *http.Client, base, token string) {
		for _, coding := range []string{"identity", "gzip", "zstd"} {
			r := linesRequest(t, base, token)
			r.Header.Set("Accept-Encoding", coding)
			response, err := client.Do(r)
			require.NoError(t, err)
			defer response.Body.Close()
			require.Equal(t, http.StatusOK, response.StatusCode)
			assert.Equal(t, lines.ContentType, response.Header.Get("Content-Type"))
			assert.Subset(t, response.Header.Values("Vary"), []string{"Accept", "Accept-Encoding"})
			got := readLines(t, strings.NewReader(decoded(t, response.Header.Get("Content-Encoding"), response.Body)))
			require.Len(t, got, 5001)
			for i, line := range got[:5000] {
				require.Equal(t, fmt.Sprintf(`{"shifts":[{"id":%d,"label":"shift %d"}]}`, i, i), line)
			}
			assert.Equal(t, `{"openShifts":[],"dayLocks":[]}`, got[5000])
			if coding != "identity" {
				assert.Equal(t, coding, response.Header.Get("Content-Encoding"))
			}
		}
	})
}

func TestOtherClientsGetJSON(t *testing.T) {
	t.Parallel()
	s := &schedules{parts: []*schedulingv1.Schedule{newShifts(1, 2)}}
	overBoth(t, s, func(t *testing.T, client *http.Client, base, token string) {
		for _, accept := range []string{"", "*/*", "application/json", "text/csv", "application/json, application/x-ndjson", "application/x-ndjson;q=0", "nonsense"} {
			r := scheduleRequest(t, base, token)
			r.Header.Set("Accept", accept)
			re := send(t, client, r)
			assert.Equal(t, http.StatusOK, re.status)
			assert.Equal(t, contentType, re.header.Get("Content-Type"), accept)
			assert.Equal(t, `{"shifts":[{"id":1,"label":"shift 1"}]}`, re.body, accept) //nolint:testifylint // The bytes stay the same.
		}
	})
}

// A small response has a length, and its last line an end.
func TestFewLines(t *testing.T) {
	t.Parallel()
	for want, part := range map[string]*schedulingv1.Schedule{
		"":                         {},
		`{"openShifts":[]}` + "\n": {OpenShifts: &schedulingv1.ShiftList{}},
		`{"shifts":[{"id":1,"label":"shift 1"}]}` + "\n": newShifts(1, 2),
	} {
		overBoth(t, &schedules{parts: []*schedulingv1.Schedule{part}}, func(t *testing.T, client *http.Client, base, token string) {
			re := send(t, client, linesRequest(t, base, token))
			assert.Equal(t, http.StatusOK, re.status)
			assert.Equal(t, lines.ContentType, re.header.Get("Content-Type"))
			assert.Equal(t, want, re.body) //nolint:testifylint // These are lines.
			assert.Equal(t, fmt.Sprint(len(want)), re.header.Get("Content-Length"))
		})
	}
}

// An error before the first line is an error as any other. After it, the client must not take the lines for all.
func TestLinesThatFail(t *testing.T) {
	t.Parallel()
	failure := fault.Invalid("WRL-1", "Wrong.")
	early := &schedules{parts: []*schedulingv1.Schedule{newShifts(0, 3), {}}, failure: failure}
	overBoth(t, early, func(t *testing.T, client *http.Client, base, token string) {
		re := send(t, client, linesRequest(t, base, token))
		assert.Equal(t, http.StatusBadRequest, re.status)
		assert.Equal(t, contentType, re.header.Get("Content-Type"))
		assert.JSONEq(t, `{"errorCode":"WRL-1","message":"Wrong."}`, withoutRequestID(re.body))
	})
	late := &schedules{parts: []*schedulingv1.Schedule{newShifts(0, 5000), {}}, failure: failure}
	overBoth(t, late, func(t *testing.T, client *http.Client, base, token string) {
		for _, coding := range []string{"identity", "gzip"} {
			r := linesRequest(t, base, token)
			r.Header.Set("Accept-Encoding", coding)
			response, err := client.Do(r)
			require.NoError(t, err)
			defer response.Body.Close()
			_, err = io.Copy(io.Discard, response.Body)
			require.Error(t, err, "the response is cut off")
		}
	})
}

// slowSchedules sends the second part of a schedule after a signal.
type slowSchedules struct {
	schedulingv1.UnimplementedScheduleServiceServer
	proceed chan struct{}
}

func (s *slowSchedules) MultiReadSchedule(ctx context.Context, _ *schedulingv1.MultiReadScheduleRequest) (*schedulingv1.Schedule, error) {
	wire, err := proto.Marshal(newShifts(0, 40_000))
	if err != nil {
		return nil, err
	}
	if _, err := parts.Send(ctx, wire); err != nil {
		return nil, err
	}
	select {
	case <-s.proceed:
		return newShifts(40_000, 40_001), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A client reads the first lines while the service still works on the last ones, also if they are compressed.
func TestLinesArriveWhileTheServiceWorks(t *testing.T) {
	t.Parallel()
	for _, coding := range []string{"identity", "gzip", "zstd"} {
		t.Run(coding, func(t *testing.T) {
			t.Parallel()
			chain, token := tokenChain(t)
			s := &slowSchedules{proceed: make(chan struct{})}
			local := rpc.NewLocal(chain)
			schedulingv1.RegisterScheduleServiceServer(local, s)
			front := serveConn(t, local)
			r := linesRequest(t, front.URL, token)
			r.Header.Set("Accept-Encoding", coding)
			response, err := front.Client().Do(r)
			require.NoError(t, err)
			defer response.Body.Close()
			content := bufio.NewReader(decoder(t, response.Header.Get("Content-Encoding"), response.Body))
			first, err := content.ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, `{"shifts":[{"id":0,"label":"shift 0"}]}`+"\n", first) //nolint:testifylint // It is a line.
			close(s.proceed)
			assert.Len(t, readLines(t, content), 40_000)
		})
	}
}

// timecards returns a list of timecards that the test chooses, with status 207 if it has a failure.
type timecards struct {
	timekeepingv1.UnimplementedTimecardServiceServer
	list *timekeepingv1.TimecardList
}

func (s *timecards) MultiReadTimecards(ctx context.Context, _ *timekeepingv1.MultiReadTimecardsRequest) (*timekeepingv1.TimecardList, error) {
	if s.list.GetFailure() == nil {
		return s.list, nil
	}
	return s.list, rpc.PartialSuccess(ctx)
}

// readTimecards reads timecards with an Accept header.
func readTimecards(t *testing.T, list *timekeepingv1.TimecardList, accept string) (reply, []string) {
	t.Helper()
	chain, token := chainFor(t, nil, "timekeeping.timecard.read")
	conn := dialServer(t, chain, func(to grpc.ServiceRegistrar) {
		timekeepingv1.RegisterTimecardServiceServer(to, &timecards{list: list})
	})
	front := serveConn(t, conn)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL+timecardsPath, strings.NewReader(`{"where":{}}`))
	require.NoError(t, err)
	r.Header.Set("Authorization", token)
	r.Header.Set("Accept", accept)
	re := send(t, front.Client(), r)
	return re, readLines(t, strings.NewReader(re.body))
}

// A response in one piece becomes lines as well.
func TestItemsOfAnArrayAreLines(t *testing.T) {
	t.Parallel()
	list := &timekeepingv1.TimecardList{}
	for i := range int64(3000) {
		list.Timecards = append(list.Timecards, &timekeepingv1.Timecard{Employee: &commonv1.Ref{Id: proto.Int64(i)}, StartDate: "2027-03-01"})
	}
	re, got := readTimecards(t, list, lines.ContentType)
	assert.Equal(t, http.StatusOK, re.status)
	assert.Empty(t, re.header.Get("Content-Length"), "the response began before its length was known")
	require.Len(t, got, 3000)
	for i, line := range got {
		require.Equal(t, fmt.Sprintf(`{"employee":{"id":%d},"startDate":"2027-03-01"}`, i), line)
	}
	re, got = readTimecards(t, &timekeepingv1.TimecardList{}, lines.ContentType)
	assert.Equal(t, http.StatusOK, re.status)
	assert.Empty(t, got)
}

func TestPartialSuccessesAreLines(t *testing.T) {
	t.Parallel()
	success, err := anypb.New(&timekeepingv1.Timecard{StartDate: "2027-03-01"})
	require.NoError(t, err)
	list := &timekeepingv1.TimecardList{Failure: &commonv1.ErrorBody{ErrorCode: "WCO-1", Message: "Partly.", Details: &commonv1.ErrorDetails{
		ErrorOffsets: []int32{1},
		Results:      []*commonv1.BulkResult{{Success: success}, {Error: &commonv1.ErrorBody{ErrorCode: "WCO-2", Message: "Unknown."}}},
	}}}
	re, got := readTimecards(t, list, lines.ContentType)
	id := re.header.Get("X-Request-Id")
	require.NotEmpty(t, id)
	assert.Equal(t, http.StatusMultiStatus, re.status)
	assert.Equal(t, lines.ContentType, re.header.Get("Content-Type"))
	assert.Equal(t, []string{
		`{"details":{"results":[{"success":{"startDate":"2027-03-01"}}]}}`,
		`{"details":{"results":[{"error":{"errorCode":"WCO-2","message":"Unknown."}}]}}`,
		`{"errorCode":"WCO-1","message":"Partly.","details":{"error-offsets":[1]},"requestId":"` + id + `"}`,
	}, got)
}

// Operations without lines ignore the header.
func TestOperationsWithoutLines(t *testing.T) {
	t.Parallel()
	f := &fakes{createShifts: func(context.Context, *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
		return newShifts(1, 2).GetShifts(), nil
	}}
	re := call(t, serve(t, Config{}, f), "POST", shiftsPath, `{}`, "Accept", lines.ContentType)
	assert.Equal(t, http.StatusOK, re.status)
	assert.Equal(t, contentType, re.header.Get("Content-Type"))
	assert.Equal(t, `[{"id":1,"label":"shift 1"}]`, re.body) //nolint:testifylint // The bytes stay the same.
}
