package dataaccess

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/encoding"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/query"
)

// commons stands for the service that knows rows: everybody up to the id 1000
// but the id 13.
type commons struct {
	datav1.UnimplementedDataRowServiceServer
	commonsv1.UnimplementedHyperfindServiceServer
	commonsv1.UnimplementedSymbolicPeriodServiceServer
	hyperfind int64
}

func (c *commons) FindDataRows(_ context.Context, req *datav1.FindDataRowsRequest) (*datav1.FindDataRowsResponse, error) {
	out := &datav1.FindDataRowsResponse{}
	for _, asked := range req.GetRows() {
		id := asked.GetId()
		if id == 0 {
			id, _ = strconv.ParseInt(asked.GetQualifier(), 10, 64)
		}
		row := &datav1.DataRow{}
		if id > 0 && id <= 1000 && id != 13 {
			row = &datav1.DataRow{Id: id, Qualifier: strconv.FormatInt(id, 10)}
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

func (c *commons) ExecuteHyperfind(_ context.Context, req *commonsv1.ExecuteHyperfindRequest) (*commonsv1.HyperfindAnswer, error) {
	if req.GetHyperfind().GetQualifier() != "all" {
		return nil, fault.NotFound("WCO-112007", "unknown")
	}
	if c.hyperfind > 50_000 {
		return nil, fault.TooLarge("WCO-112013", "more than 50000").WithLimits(c.hyperfind, 50_000)
	}
	refs := &commonsv1.HyperfindRefList{}
	for id := range c.hyperfind {
		refs.Refs = append(refs.Refs, &commonv1.Ref{Id: proto.Int64(id + 1)})
	}
	return &commonsv1.HyperfindAnswer{Result: &commonsv1.HyperfindResult{Refs: refs}}, nil
}

func (c *commons) ReadSymbolicPeriod(_ context.Context, req *commonsv1.ReadSymbolicPeriodRequest) (*commonsv1.SymbolicPeriodSpan, error) {
	switch req.GetWhere().GetSymbolicPeriodId() {
	case "7":
		return &commonsv1.SymbolicPeriodSpan{StartDate: "2025-01-01", EndDate: "2026-06-30"}, nil
	case "Current_Week":
		return &commonsv1.SymbolicPeriodSpan{StartDate: "2026-03-01", EndDate: "2026-03-07"}, nil
	case "Current_Payperiod":
		return &commonsv1.SymbolicPeriodSpan{StartDate: "2026-02-24", EndDate: "2026-03-09"}, nil
	}
	return nil, fault.Invalid("WCO-1", "unknown")
}

// thing is a row of the providers of a test.
type thing struct{ id int64 }

// provider makes a provider with one number, one text and, of a series, one
// date.
func newProvider(name string, load func(context.Context) error) *dataelement.Table[thing] {
	of := []string{"EMPLOYEE"}
	entry := func(key string, kind dataelement.Type, series bool, value func(*thing, dataelement.At) dataelement.Value) dataelement.Entry[thing] {
		return dataelement.Entry[thing]{Key: name + key, Label: key, Doc: key, Type: kind, Categories: of, Series: series, Value: value}
	}
	return &dataelement.Table[thing]{
		Name: name, Permission: "test." + name + ".read", Kind: datav1.RowKind_ROW_KIND_EMPLOYEE, MaxRowDays: 1000,
		Load: func(ctx context.Context, ids []int64, _ civil.Range, _ uint64) ([]*thing, error) {
			out := make([]*thing, len(ids))
			for i, id := range ids {
				out[i] = &thing{id}
			}
			return out, load(ctx)
		},
		Entries: []dataelement.Entry[thing]{
			// A third of the rows has no number.
			entry("_NUMBER", dataelement.Number, false, func(t *thing, _ dataelement.At) dataelement.Value {
				if t.id%3 == 0 {
					return dataelement.Value{}
				}
				return dataelement.Decimal(float64(t.id) / 2)
			}),
			entry("_TEXT", dataelement.String, false, func(t *thing, _ dataelement.At) dataelement.Value {
				return dataelement.Text([]string{"even", "Odd"}[t.id%2])
			}),
			entry("_DAY", dataelement.Date, true, func(_ *thing, at dataelement.At) dataelement.Value { return dataelement.Day(at.Last()) }),
		},
	}
}

// bench is the service over providers that a test makes fail.
type bench struct {
	handler *Handler
	data    platformv1.DataServiceClient
	commons *commons
	clock   *clock.Fake

	mu   sync.Mutex
	fail map[string]func(context.Context) error
	read int
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{commons: &commons{}, clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), fail: map[string]func(context.Context) error{}}
	load := func(name string) func(context.Context) error {
		return func(ctx context.Context) error {
			b.mu.Lock()
			b.read++
			fail := b.fail[name]
			b.mu.Unlock()
			if fail == nil {
				return nil
			}
			return fail(ctx)
		}
	}
	lower, upper, own := rpctest.Local(t), rpctest.Local(t), rpctest.Local(t)
	datav1.RegisterDataRowServiceServer(lower, b.commons)
	commonsv1.RegisterHyperfindServiceServer(lower, b.commons)
	commonsv1.RegisterSymbolicPeriodServiceServer(lower, b.commons)
	datav1.RegisterDataProviderServiceServer(lower, dataelement.NewServer(newProvider("A", load("A")), newProvider("B", load("B"))))
	datav1.RegisterDataProviderServiceServer(upper, dataelement.NewServer(newProvider("C", load("C"))))
	b.handler = New(Config{ProviderTimeout: 200 * time.Millisecond, CacheFor: time.Minute}, Deps{
		Commons: lower.Conn("platform", nil), Timekeeping: upper.Conn("platform", nil), Scheduling: upper.Conn("platform", nil),
		Log: slog.New(slog.DiscardHandler), Clock: b.clock,
	})
	platformv1.RegisterDataServiceServer(own, b.handler)
	b.data = platformv1.NewDataServiceClient(own.Conn("test", nil))
	return b
}

func (b *bench) ask(t *testing.T, req *platformv1.MultiReadDataRequest) (*platformv1.DataAnswer, error) {
	t.Helper()
	return b.data.MultiReadData(tenant.With(t.Context(), 1), req)
}

func (b *bench) mustAsk(t *testing.T, req *platformv1.MultiReadDataRequest) *platformv1.DataAnswer {
	t.Helper()
	response, err := b.ask(t, req)
	require.NoError(t, err)
	return response
}

// request asks for columns of employees on a week.
func request(ids []int64, keys ...string) *platformv1.MultiReadDataRequest {
	req := &platformv1.MultiReadDataRequest{From: &platformv1.DataFrom{View: "0", EmployeeSet: &platformv1.DataEmployeeSet{
		Employees: &commonv1.RefList{Ids: ids}, DateRange: &platformv1.DataDateRange{StartDate: "2026-03-02", EndDate: "2026-03-08"},
	}}}
	for _, key := range keys {
		req.Select = append(req.Select, &platformv1.DataSelect{Key: key})
	}
	return req
}

func upTo(n int64) []int64 {
	var out []int64
	for id := range n {
		if id+1 != 13 {
			out = append(out, id+1)
		}
	}
	return out
}

// idsOf are the rows of a response, in order.
func idsOf(response *platformv1.DataAnswer) []string {
	out := []string{}
	for _, node := range response.GetData().GetChildren().GetNodes() {
		out = append(out, node.GetKey().GetFields()["PEOPLE"].GetStringValue())
	}
	return out
}

// raws are the values of a node; "-" where there is none.
func raws(node *platformv1.DataNode) []string {
	out := []string{}
	for _, a := range node.GetAttributes().GetAttributes() {
		if a.RawValue == nil {
			out = append(out, "-")
		} else {
			out = append(out, a.GetRawValue())
		}
	}
	return out
}

func TestAProviderThatFailsTakesItsElementsAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail   func(context.Context) error
		reason string
	}{
		"its limit":   {func(context.Context) error { return fault.TooLarge("WRL-1", "Too much for B.") }, "Too much for B."},
		"its failure": {func(context.Context) error { return fault.Internal(nil) }, "The data provider B cannot be reached at the moment."},
		"its panic":   {func(context.Context) error { panic("b") }, "The data provider B cannot be reached at the moment."},
		"its delay": {
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			"The data provider B did not respond in time.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.fail["B"] = c.fail
			response := b.mustAsk(t, request([]int64{1, 2}, "A_TEXT", "B_TEXT", "B_NUMBER", "C_NUMBER"))
			require.Len(t, response.GetMetadata().GetErrors(), 1)
			failure := response.GetMetadata().GetErrors()[0]
			assert.Equal(t, errcode.CodeProvider, failure.GetCode())
			require.Len(t, failure.GetDetail(), 2)
			assert.Equal(t, "B_TEXT", failure.GetDetail()[0].GetDataElement().GetKey())
			assert.Equal(t, "B_NUMBER", failure.GetDetail()[1].GetDataElement().GetKey())
			assert.Equal(t, c.reason, failure.GetDetail()[0].GetMessage())
			assert.True(t, response.GetMetadata().GetNotCached())
			assert.Equal(t, []string{"1", "2"}, idsOf(response))
			assert.Equal(t, []string{"Odd", "-", "-", "0.5"}, raws(response.GetData().GetChildren().GetNodes()[0]))

			alone := b.mustAsk(t, request([]int64{1}, "B_TEXT"))
			assert.Empty(t, alone.GetData().GetChildren().GetNodes())
			assert.Nil(t, alone.GetData().GetKey(), "data is empty when nothing could be read")
			assert.Equal(t, "0", alone.GetMetadata().GetNumNodes())
		})
	}
}

func TestTheOwnLimitOfAProvider(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := b.mustAsk(t, request(upTo(143)[:142], "A_TEXT")) // 142 * 7 = 994
	assert.Empty(t, at.GetMetadata().GetErrors())
	over := b.mustAsk(t, request(upTo(144), "A_TEXT")) // 143 * 7 = 1001
	require.Len(t, over.GetMetadata().GetErrors(), 1)
	assert.Contains(t, over.GetMetadata().GetErrors()[0].GetDetail()[0].GetMessage(), "employees * days: 1001, allowed: 1000")
}

func TestEachProviderNeedsThePermissionOfItsDomain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := authn.With(tenant.With(t.Context(), 1), &authn.Principal{Tenant: 1, Subject: "ada", Permissions: []string{"test.A.read"}}, "")
	response, err := b.handler.MultiReadData(ctx, request([]int64{1}, "A_TEXT", "C_TEXT"))
	require.NoError(t, err)
	detail := response.GetMetadata().GetErrors()[0].GetDetail()
	require.Len(t, detail, 1)
	assert.Equal(t, "C_TEXT", detail[0].GetDataElement().GetKey())
	assert.Contains(t, detail[0].GetMessage(), "test.C.read")
}

func TestHyperfindsAndPeriodsHaveTheSameLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	req := request(nil, "A_DAY")
	req.From.EmployeeSet.Employees, req.From.EmployeeSet.Hyperfind = nil, &commonv1.Ref{Qualifier: proto.String("all")}
	req.From.EmployeeSet.DateRange = &platformv1.DataDateRange{StartDate: "2026-03-02", EndDate: "2026-03-02T12:00:00"}
	for count, status := range map[int64]int{499: 0, 500: 0, 501: 413, 3501: 413, 50_000: 413, 50_001: 413} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			b.commons.hyperfind = count
			response, err := b.ask(t, req)
			if status == 0 {
				require.NoError(t, err)
				assert.Len(t, idsOf(response), int(count))
				return
			}
			refused := fault.FromError(err)
			assert.Equal(t, errcode.CodeEmployees, refused.Code)
			assert.Equal(t, status, refused.Status)
			assert.Contains(t, refused.Message, strconv.FormatInt(count, 10))
			assert.EqualValues(t, count, refused.Details.GetLimits()[0].GetActual())
			assert.EqualValues(t, 500, refused.Details.GetLimits()[0].GetMaximum())
		})
	}
	req.From.EmployeeSet.Hyperfind = &commonv1.Ref{Qualifier: proto.String("other")}
	_, err := b.ask(t, req)
	assert.True(t, fault.HasCode(err, errcode.CodeHyperfind), err)

	long := request([]int64{1}, "A_DAY")
	long.From.EmployeeSet.DateRange = &platformv1.DataDateRange{SymbolicPeriod: &commonv1.Ref{Id: proto.Int64(7)}}
	_, err = b.ask(t, long)
	assert.True(t, fault.HasCode(err, errcode.CodeDays) && fault.HasStatus(err, http.StatusBadRequest), err)
}

func TestWhoIsNotSeenIsUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.ask(t, request([]int64{1, 13}, "A_TEXT"))
	assert.True(t, fault.HasCode(err, errcode.CodeUnreadable), err)
	req := request(nil, "A_TEXT")
	req.From.EmployeeSet.Employees = &commonv1.RefList{Qualifiers: []string{"13"}}
	_, err = b.ask(t, req)
	assert.True(t, fault.HasCode(err, errcode.CodeNoEmployee), err)
	req.From.EmployeeSet.Employees = &commonv1.RefList{Refs: []*commonv1.Ref{{Id: proto.Int64(2)}, {Qualifier: proto.String("2")}, {Id: proto.Int64(1)}}}
	assert.Equal(t, []string{"2", "1"}, idsOf(b.mustAsk(t, req)), "each is there once, in the order asked for")
}

// colleagues are whom everybody sees beside themselves.
type colleagues []int64

func (c colleagues) Persons(context.Context, *authn.Principal) ([]int64, error) { return c, nil }

// The service that finds rows may believe for some seconds that the caller sees
// somebody whom they do not see any more.
func TestResultsAreKeptForWhomTheCallerSees(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.handler.rules = rowvisibility.New(b.clock, colleagues{2, 3})
	manager := &authn.Principal{Tenant: 1, Subject: "m", PersonID: 1, Rows: "group", Permissions: []string{"test.A.read"}}
	ctx := authn.With(tenant.With(t.Context(), 1), manager, "")
	for name, c := range map[string]struct {
		ids  []int64
		kept bool
	}{
		"whom they see":    {[]int64{1, 2, 3}, true},
		"somebody else as": {[]int64{2, 4}, false},
	} {
		t.Run(name, func(t *testing.T) {
			req := request(c.ids, "A_TEXT")
			req.Options = &platformv1.DataOptions{RequestTag: &name}
			response, err := b.handler.MultiReadData(ctx, req)
			require.NoError(t, err, name)
			assert.Equal(t, !c.kept, response.GetMetadata().GetNotCached(), name)
		})
	}
	over := &encoding.Result{View: query.Views()[1], Rows: []*datav1.DataRow{{Id: 2}}}
	assert.False(t, fits(over, rowvisibility.Persons(2)), "nobody can know whom a sum over a location counts")
	assert.True(t, fits(over, rowvisibility.AllPersons()))
}

func TestSortAndPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	req := request([]int64{1, 2, 3, 4, 5, 6}, "A_TEXT")
	req.SortBy = []*platformv1.DataSort{{Key: "A_NUMBER"}}
	assert.Equal(t, []string{"5", "4", "2", "1", "3", "6"}, idsOf(b.mustAsk(t, req)), "descending, and what has no value last")
	req.SortBy[0].SortDirection = "asc"
	assert.Equal(t, []string{"1", "2", "4", "5", "3", "6"}, idsOf(b.mustAsk(t, req)))
	req.SortBy = slices.Insert(req.SortBy, 0, &platformv1.DataSort{Key: "A_TEXT", SortDirection: "Asc"})
	req.Index, req.Count = proto.Int64(1), proto.Int64(4)
	page := b.mustAsk(t, req)
	assert.Equal(t, []string{"5", "3"}, idsOf(page))
	assert.Equal(t, "2", page.GetMetadata().GetNumNodes())
	assert.Equal(t, "6", page.GetMetadata().GetTotalNodes())
	req.Index = proto.Int64(2)
	_, err := b.ask(t, req)
	assert.True(t, fault.HasCode(err, errcode.CodePage), err)
}

func TestGroups(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	req := request([]int64{1, 2, 3, 4, 5, 6}, "A_TEXT", "A_NUMBER")
	req.GroupBy = []*platformv1.DataGroup{{Key: "A_TEXT"}}
	for _, operation := range []string{"SUM", "avg", "MIN", "MAX", "COUNT"} {
		req.GroupBy = append(req.GroupBy, &platformv1.DataGroup{Key: "A_NUMBER", Operation: operation})
	}
	req.SortBy = []*platformv1.DataSort{{Key: "A_TEXT"}}
	response := b.mustAsk(t, req)
	nodes := response.GetData().GetChildren().GetNodes()
	require.Len(t, nodes, 2)
	assert.Equal(t, []string{"Odd", "3", "1.5", "0.5", "2.5", "2"}, raws(nodes[0]))
	assert.Equal(t, []string{"even", "3", "1.5", "1", "2", "2"}, raws(nodes[1]))
	assert.Len(t, nodes[1].GetChildren().GetNodes(), 3)
	req.Options = &platformv1.DataOptions{ResponseType: "grid"}
	assert.Empty(t, b.mustAsk(t, req).GetData().GetChildren().GetNodes()[1].GetChildren().GetNodes())
	req.GroupBy[1] = &platformv1.DataGroup{Key: "A_TEXT", Operation: "SUM"}
	_, err := b.ask(t, req)
	assert.True(t, fault.HasCode(err, errcode.CodeBadRequest), err)
}

func TestCache(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	req := request([]int64{1, 2}, "A_NUMBER")
	req.Options = &platformv1.DataOptions{RequestTag: proto.String("tag")}
	reads := func(want int, why string) string {
		t.Helper()
		response := b.mustAsk(t, req)
		assert.Equal(t, want, b.read, why)
		assert.Equal(t, "tag", response.GetMetadata().GetCacheKey())
		return response.GetMetadata().GetLastRefreshed()
	}
	first := reads(1, "nothing is kept yet")
	b.clock.Advance(30 * time.Second)
	req.Count = proto.Int64(1)
	assert.Equal(t, first, reads(1, "another page"))
	req.Options.Refresh = proto.Bool(true)
	assert.NotEqual(t, first, reads(2, "refresh"))
	req.Options.Refresh = nil
	reads(2, "what was refreshed is kept")
	req.Select = append(req.Select, &platformv1.DataSelect{Key: "A_TEXT"})
	reads(3, "another request")
	b.clock.Advance(time.Minute)
	reads(4, "it expired")

	made := b.mustAsk(t, request([]int64{1}, "A_NUMBER")).GetMetadata().GetCacheKey()
	again := request([]int64{1}, "A_NUMBER")
	again.Options = &platformv1.DataOptions{RequestTag: &made}
	b.mustAsk(t, again)
	assert.Equal(t, 5, b.read, "the name that was made for a result reads it again")

	ask := func(subject string, permissions ...string) {
		t.Helper()
		ctx := authn.With(tenant.With(t.Context(), 1), &authn.Principal{Tenant: 1, Subject: subject, Rows: "all", Permissions: append(permissions, "test.A.read")}, "")
		_, err := b.handler.MultiReadData(ctx, req)
		require.NoError(t, err)
	}
	ask("ada")
	ask("ada")
	assert.Equal(t, 6, b.read)
	ask("ben")
	ask("ada", "more")
	assert.Equal(t, 8, b.read, "nobody reads what others may")
}

func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Now())
	c := newResults(clk, 100)
	kept := func(tag string) bool { return c.get(cacheKey{tag: tag}, [32]byte{}) != nil }
	put := func(tag string, bytes int) bool {
		return c.put(cacheKey{tag: tag}, &encoding.Result{Bytes: bytes, Expires: clk.Now().Add(time.Minute)})
	}
	for _, tag := range []string{"a", "b", "c", "d"} {
		t.Run(tag, func(t *testing.T) {
			assert.True(t, put(tag, 25))
		})
	}
	assert.True(t, kept("a"))
	assert.True(t, put("e", 25))
	assert.True(t, kept("a") && kept("e"))
	assert.False(t, kept("b"), "the one that was not used longest goes")
	assert.False(t, put("f", 26), "none takes more than a quarter")
	assert.Equal(t, 4, c.Len())
	clk.Advance(time.Minute)
	assert.False(t, kept("a"))
	assert.Equal(t, 3, c.Len())
}
