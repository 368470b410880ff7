package dataaccess

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// commons replaces the service that finds rows. It knows the ids up to 1000, except 13.
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

func (c *commons) ExecuteHyperfind(_ context.Context, req *commonsv1.ExecuteHyperfindRequest) (*commonsv1.HyperfindResponse, error) {
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
	return &commonsv1.HyperfindResponse{Result: &commonsv1.HyperfindResult{Refs: refs}}, nil
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

// fixture is the service over providers that a test makes fail.
type fixture struct {
	handler *Handler
	data    platformv1.DataServiceClient
	commons *commons
	clock   *clock.Fake

	mu   sync.Mutex
	fail map[string]func(context.Context) error
	read int
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	b := &fixture{commons: &commons{}, clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), fail: map[string]func(context.Context) error{}}
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
	b.handler = New(Config{ProviderTimeout: 2 * time.Second, CacheFor: time.Minute}, Deps{
		Commons: lower.Conn("platform", nil), Timekeeping: upper.Conn("platform", nil), Scheduling: upper.Conn("platform", nil),
		Log: slog.New(slog.DiscardHandler), Clock: b.clock,
	})
	platformv1.RegisterDataServiceServer(own, b.handler)
	b.data = platformv1.NewDataServiceClient(own.Conn("test", nil))
	return b
}

func (b *fixture) ask(t *testing.T, req *platformv1.MultiReadDataRequest) (*platformv1.MultiReadDataResponse, error) {
	t.Helper()
	return b.data.MultiReadData(tenant.With(t.Context(), 1), req)
}

func (b *fixture) mustAsk(t *testing.T, req *platformv1.MultiReadDataRequest) *platformv1.MultiReadDataResponse {
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

// responseIDs are the rows of a response, in order.
func responseIDs(response *platformv1.MultiReadDataResponse) []string {
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
