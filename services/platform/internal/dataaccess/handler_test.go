package dataaccess

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
)

func TestAProviderThatFailsTakesItsElementsAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail   func(context.Context) error
		reason string
	}{
		"its limit":   {func(context.Context) error { return fault.TooLarge("WRL-1", "Too much for B.") }, "Too much for B."},
		"its failure": {func(context.Context) error { return fault.Internal(nil) }, "The data provider B is unreachable at the moment."},
		"its panic":   {func(context.Context) error { panic("b") }, "The data provider B is unreachable at the moment."},
		"its delay": {
			func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			"The data provider B did not respond in time.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t)
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
			assert.Equal(t, []string{"1", "2"}, responseIDs(response))
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
	b := newFixture(t)
	at := b.mustAsk(t, request(upTo(143)[:142], "A_TEXT")) // 142 * 7 = 994
	assert.Empty(t, at.GetMetadata().GetErrors())
	over := b.mustAsk(t, request(upTo(144), "A_TEXT")) // 143 * 7 = 1001
	require.Len(t, over.GetMetadata().GetErrors(), 1)
	assert.Contains(t, over.GetMetadata().GetErrors()[0].GetDetail()[0].GetMessage(), "employees * days: 1001, allowed: 1000")
}

func TestEachProviderNeedsThePermissionOfItsDomain(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
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
	b := newFixture(t)
	req := request(nil, "A_DAY")
	req.From.EmployeeSet.Employees, req.From.EmployeeSet.Hyperfind = nil, &commonv1.Ref{Qualifier: proto.String("all")}
	req.From.EmployeeSet.DateRange = &platformv1.DataDateRange{StartDate: "2026-03-02", EndDate: "2026-03-02T12:00:00"}
	for count, status := range map[int64]int{499: 0, 500: 0, 501: 413, 3501: 413, 50_000: 413, 50_001: 413} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			b.commons.hyperfind = count
			response, err := b.ask(t, req)
			if status == 0 {
				require.NoError(t, err)
				assert.Len(t, responseIDs(response), int(count))
				return
			}
			refused := fault.FromError(err)
			assert.Equal(t, "WCO-106194", refused.Code)
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

func TestInvisibleEmployeesAreUnknown(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	_, err := b.ask(t, request([]int64{1, 13}, "A_TEXT"))
	assert.True(t, fault.HasCode(err, errcode.CodeUnreadable), err)
	req := request(nil, "A_TEXT")
	req.From.EmployeeSet.Employees = &commonv1.RefList{Qualifiers: []string{"13"}}
	_, err = b.ask(t, req)
	assert.True(t, fault.HasCode(err, errcode.CodeNoEmployee), err)
	req.From.EmployeeSet.Employees = &commonv1.RefList{Refs: []*commonv1.Ref{{Id: proto.Int64(2)}, {Qualifier: proto.String("2")}, {Id: proto.Int64(1)}}}
	assert.Equal(t, []string{"2", "1"}, responseIDs(b.mustAsk(t, req)), "each is there once, in the order asked for")
}

// colleagues are the employees that all callers see, besides themselves.
type colleagues []int64

func (c colleagues) Persons(context.Context, *authn.Principal) ([]int64, error) { return c, nil }

func TestSortAndPages(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	req := request([]int64{1, 2, 3, 4, 5, 6}, "A_TEXT")
	req.SortBy = []*platformv1.DataSort{{Key: "A_NUMBER"}}
	assert.Equal(t, []string{"5", "4", "2", "1", "3", "6"}, responseIDs(b.mustAsk(t, req)), "descending, and what has no value last")
	req.SortBy[0].SortDirection = "asc"
	assert.Equal(t, []string{"1", "2", "4", "5", "3", "6"}, responseIDs(b.mustAsk(t, req)))
	req.SortBy = slices.Insert(req.SortBy, 0, &platformv1.DataSort{Key: "A_TEXT", SortDirection: "Asc"})
	req.Index, req.Count = proto.Int64(1), proto.Int64(4)
	page := b.mustAsk(t, req)
	assert.Equal(t, []string{"5", "3"}, responseIDs(page))
	assert.Equal(t, "2", page.GetMetadata().GetNumNodes())
	assert.Equal(t, "6", page.GetMetadata().GetTotalNodes())
	req.Index = proto.Int64(2)
	_, err := b.ask(t, req)
	assert.True(t, fault.HasCode(err, errcode.CodePage), err)
}

func TestGroups(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
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
