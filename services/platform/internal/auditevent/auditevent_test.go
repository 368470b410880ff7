package auditevent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	auditv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/audit/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is the handler between two sources, auth and commons.
type fixture struct {
	handler *Handler
	pools   map[string]*pg.Pool
	client  platformv1.AuditEventServiceClient
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{pools: map[string]*pg.Pool{}}
	for _, name := range []string{"auth", "commons", "platform"} {
		b.pools[name] = pgtest.New(t, audit.Migrations())
	}
	var sources []Source
	for _, name := range []string{"auth", "commons"} {
		local := rpctest.Local(t)
		auditv1.RegisterAuditTrailServiceServer(local, audit.NewLogServer(b.pools[name]))
		sources = append(sources, Source{name, local.Conn("platform", nil)})
	}
	b.handler = New(b.pools["platform"], sources)
	local := rpctest.Local(t)
	platformv1.RegisterAuditEventServiceServer(local, b.handler)
	b.client = platformv1.NewAuditEventServiceClient(local.Conn("test", nil))
	return b
}

// event stores one and returns its request id, which identifies it.
func (b *fixture) event(t *testing.T, service string, e audit.Event) string {
	t.Helper()
	e.RequestID = fmt.Sprintf("%s-%d", service, rand.Int64())
	if e.Tenant == 0 {
		e.Tenant = 1
	}
	require.NoError(t, e.Write(tenant.With(t.Context(), e.Tenant), b.pools[service]))
	return e.RequestID
}

// pages reads all pages and returns the request ids.
func (b *fixture) pages(t *testing.T, ctx context.Context, count int32, where *platformv1.AuditEventFilter) (ids []string) {
	t.Helper()
	req := &platformv1.ReadAuditEventsRequest{Where: where, Count: &count}
	for {
		response, err := b.client.ReadAuditEvents(ctx, req)
		require.NoError(t, err)
		for _, e := range response.GetEvents().GetEvents() {
			ids = append(ids, e.GetRequestId())
		}
		if req.After = response.GetNext(); req.After == "" {
			return ids
		}
		require.Len(t, response.GetEvents().GetEvents(), int(count), "only the last page is shorter")
	}
}

func TestTrailsAreMergedByTime(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), 1)
	var want []string // the oldest first
	for i := range 40 {
		at := noon.Add(time.Duration(i/8) * time.Second) // Eight of a moment.
		// At the same time, platform comes last and auth first; within a log, the last event comes first.
		name := []string{"platform", "platform", "platform", "commons", "commons", "auth", "auth", "auth"}[i%8]
		want = append(want, b.event(t, name, audit.Event{At: at, User: "ada", Operation: "login", Outcome: audit.OK}))
	}
	b.event(t, "commons", audit.Event{Tenant: 2, At: noon, Operation: "login", Outcome: audit.OK})
	newest := make([]string, 0, len(want))
	for i := range want {
		newest = append(newest, want[len(want)-1-i])
	}
	for _, count := range []int32{1, 3, 7, 39, 40, 41, 1000} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			assert.Equal(t, newest, b.pages(t, ctx, count, nil), "pages of %d", count)
		})
	}
	assert.Equal(t, newest[16:24], b.pages(t, ctx, 5, &platformv1.AuditEventFilter{
		StartDateTime: "2026-03-01T12:00:02", EndDateTime: "2026-03-01T12:00:03",
	}))
	first, err := b.client.ReadAuditEvents(ctx, &platformv1.ReadAuditEventsRequest{Count: proto.Int32(10)})
	require.NoError(t, err)
	b.event(t, "auth", audit.Event{At: noon.Add(time.Hour), Operation: "login", Outcome: audit.OK})
	b.event(t, "commons", audit.Event{At: noon.Add(4 * time.Second), Operation: "login", Outcome: audit.OK})
	second, err := b.client.ReadAuditEvents(ctx, &platformv1.ReadAuditEventsRequest{Count: proto.Int32(1), After: first.GetNext()})
	require.NoError(t, err)
	assert.Equal(t, newest[10], second.GetEvents().GetEvents()[0].GetRequestId(), "what comes later moves nothing")
}

func TestFilters(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), 1)
	login := b.event(t, "auth", audit.Event{At: noon, User: "Ada", Operation: "login", Outcome: "invalid_grant"})
	write := b.event(t, "commons", audit.Event{At: noon.Add(-time.Second), User: "ada", Operation: "s/Write", Service: "scheduling", Outcome: audit.OK})
	other := b.event(t, "commons", audit.Event{At: noon.Add(-time.Minute), User: "eve", Operation: "s/Write", Outcome: audit.OK})
	for i, test := range []struct {
		where *platformv1.AuditEventFilter
		want  []string
	}{
		{&platformv1.AuditEventFilter{UserName: "ADA"}, []string{login, write}},
		{&platformv1.AuditEventFilter{Operation: "s/Write"}, []string{write, other}},
		{&platformv1.AuditEventFilter{Operation: "Write"}, []string{write, other}},
		{&platformv1.AuditEventFilter{Outcome: "ok", UserName: "ada"}, []string{write}},
		{&platformv1.AuditEventFilter{Service: "auth"}, []string{login}},
		{&platformv1.AuditEventFilter{Service: "platform"}, nil},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			assert.Equal(t, test.want, b.pages(t, ctx, 100, test.where), "%v", test.where)
		})
	}
	response, err := b.client.ReadAuditEvents(ctx, &platformv1.ReadAuditEventsRequest{Where: &platformv1.AuditEventFilter{Operation: "s/Write", UserName: "ada"}})
	require.NoError(t, err)
	e := response.GetEvents().GetEvents()[0]
	assert.Equal(t, "commons", e.GetService())
	assert.Equal(t, "scheduling", e.GetCalledBy())
	assert.Equal(t, "2026-03-01T11:59:59.000000", e.GetDateTime())
	assert.Zero(t, e.GetTimes())
	assert.Empty(t, e.GetLastDateTime())
}

func TestWrongQuestionsAreRefused(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), 1)
	place := func(p position) string { return p.text() }
	for i, bad := range []*platformv1.ReadAuditEventsRequest{
		{Count: proto.Int32(1001)},
		{Count: proto.Int32(0)},
		{Count: proto.Int32(-1)},
		{After: "?"},
		{After: "MTIz"},
		{After: place(position{log: 3})},
		{After: place(position{at: end + 1})},
		{Where: &platformv1.AuditEventFilter{StartDateTime: "yesterday"}},
		{Where: &platformv1.AuditEventFilter{Service: "payroll"}},
		{Where: &platformv1.AuditEventFilter{UserName: "a\x00"}},
		{Where: &platformv1.AuditEventFilter{StartDateTime: "2026-03-01T12:00:00", EndDateTime: "2026-03-01T12:00:00"}},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := b.client.ReadAuditEvents(ctx, bad)
			assert.True(t, fault.HasStatus(err, 400), "%v: %v", bad, err)
		})
	}
	b.pools["commons"].Close()
	_, err := b.client.ReadAuditEvents(ctx, &platformv1.ReadAuditEventsRequest{})
	require.Error(t, err, "an incomplete audit log is refused")
	_, err = b.client.ReadAuditEvents(ctx, &platformv1.ReadAuditEventsRequest{Where: &platformv1.AuditEventFilter{Service: "auth"}})
	require.NoError(t, err, "who is not asked need not be there")
}

func TestRefusalsOfTheEdgeAreKept(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := tenant.With(t.Context(), 1)
	req := &platformv1.RecordDenialsRequest{Denials: []*platformv1.Denial{
		{
			UserName: "ada", PersonId: 11, ClientId: "web", Operation: "s/M", Outcome: "WRL-00429", RequestId: "r-1", Times: 12,
			FirstAt: noon.UnixMicro(), LastAt: noon.Add(3 * time.Second).UnixMicro(),
		},
		{UserName: "ada", ClientId: "web", Outcome: "WRL-00429", RequestId: "r-2", Times: 1, FirstAt: noon.UnixMicro(), LastAt: noon.UnixMicro()},
	}}
	_, err := b.client.RecordDenials(ctx, req)
	require.NoError(t, err)
	_, err = b.client.RecordDenials(t.Context(), req)
	assert.True(t, fault.HasStatus(err, 400), "of no tenant: %v", err)
	response, err := b.client.ReadAuditEvents(ctx, &platformv1.ReadAuditEventsRequest{})
	require.NoError(t, err)
	require.Len(t, response.GetEvents().GetEvents(), 2)
	single, many := response.GetEvents().GetEvents()[0], response.GetEvents().GetEvents()[1]
	assert.Equal(t, "r-2", single.GetRequestId())
	assert.Zero(t, single.GetTimes())
	assert.Empty(t, single.GetLastDateTime())
	many.Objects = nil
	assert.Equal(t, (&platformv1.AuditEvent{
		DateTime: "2026-03-01T12:00:00.000000", UserName: "ada", ClientId: "web", Service: "platform", Operation: "s/M",
		RequestId: "r-1", Outcome: "WRL-00429", Times: 12, LastDateTime: "2026-03-01T12:00:03.000000",
	}).String(), many.String())
}
