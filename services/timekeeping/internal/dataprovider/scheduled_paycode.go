package dataprovider

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/pg"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

const (
	// schedules is the provider of schedules, which scheduling serves. It also contains the
	// elements of scheduled pay codes.
	schedules = "SCH"
	// scheduledPayCode is the element of scheduling that shows the pay code of the first pay code
	// edit.
	scheduledPayCode = "CORE_PAYCODE"
)

// Schedules reads data elements of schedules from scheduling.
type Schedules interface {
	ReadDataElements(context.Context, *datav1.ReadDataElementsRequest, ...grpc.CallOption) (*datav1.ReadDataElementsResponse, error)
}

// scheduledPayCodes holds, by period, the pay code of the first pay code edit in the schedule of a
// row. It contains only pay codes that are set up.
type scheduledPayCodes map[civil.Range]*timekeepingv1.PayCode

// newScheduledPayCodes returns the part of the provider SCH that shows the properties of pay codes.
func newScheduledPayCodes(pool *pg.Pool, source Schedules, kind datav1.RowKind) *dataelement.Table[scheduledPayCodes] {
	return &dataelement.Table[scheduledPayCodes]{
		Name: schedules, Permission: "scheduling.schedule.read", Kind: kind,
		MaxRowDays: math.MaxInt64, // Scheduling limits its own requests.
		Entries:    scheduledPayCodeElements(),
		LoadPeriods: func(ctx context.Context, ids []int64, periods []civil.Range, _ uint64) ([]*scheduledPayCodes, error) {
			names, err := readScheduledNames(ctx, source, kind, ids, periods)
			if err != nil {
				return nil, err
			}
			wanted := map[string]bool{}
			for _, name := range names {
				if name != "" {
					wanted[strings.ToLower(name)] = true
				}
			}
			found, err := findPayCodes(ctx, pool, slices.Sorted(maps.Keys(wanted)))
			if err != nil {
				return nil, err
			}
			return spreadPayCodes(names, found, len(ids), periods), nil
		},
	}
}

// findPayCodes returns the pay codes with the names or former names, by the name in lower case. Unknown
// names are missing.
func findPayCodes(ctx context.Context, pool *pg.Pool, names []string) (known map[string]*timekeepingv1.PayCode, err error) {
	err = pg.InSnapshot(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		known = map[string]*timekeepingv1.PayCode{}
		former, err := setupname.Former(ctx, tx, setupname.PayCode)
		if err != nil {
			return err
		}
		var ids []int64
		for _, name := range names {
			if id, ok := former[name]; ok {
				ids = append(ids, id)
			}
		}
		found, err := paycode.Kind().Find(ctx, tx, ids, names)
		if err != nil {
			return err
		}
		byID := map[int64]*timekeepingv1.PayCode{}
		for _, code := range found {
			byID[code.GetId()], known[strings.ToLower(code.GetName())] = code, code
		}
		for _, name := range names {
			if code := byID[former[name]]; code != nil && known[name] == nil {
				known[name] = code
			}
		}
		return nil
	})
	return known, err
}

// readScheduledNames returns the pay code names of the first pay code edits, row by row and then
// period by period; "" without an edit.
func readScheduledNames(ctx context.Context, source Schedules, kind datav1.RowKind, ids []int64, periods []civil.Range) ([]string, error) {
	bounds := []int32{int32(periods[0].From)}
	for _, p := range periods {
		bounds = append(bounds, int32(p.To))
	}
	response, err := source.ReadDataElements(ctx, &datav1.ReadDataElementsRequest{
		Provider: schedules, RowKind: kind, RowIds: ids, Bounds: bounds, Elements: []*datav1.DataSelection{{Key: scheduledPayCode}},
	})
	if err != nil {
		return nil, err
	}
	if n := len(response.GetColumns()); n != 1 {
		return nil, fmt.Errorf("scheduling returned %d columns of pay codes instead of 1", n)
	}
	out := make([]string, len(ids)*len(periods))
	texts := response.GetColumns()[0].GetTexts()
	for i := range out {
		if len(texts) > 0 && dataelement.Present(response.GetColumns()[0], i) {
			out[i], texts = texts[0], texts[1:]
		}
	}
	return out, nil
}

// spreadPayCodes assigns the found pay codes to the rows by name, without regard to case.
func spreadPayCodes(names []string, known map[string]*timekeepingv1.PayCode, rows int, periods []civil.Range) []*scheduledPayCodes {
	out := make([]*scheduledPayCodes, rows)
	for row := range out {
		of := scheduledPayCodes{}
		for i, period := range periods {
			if code := known[strings.ToLower(names[row*len(periods)+i])]; code != nil {
				of[period] = code
			}
		}
		out[row] = &of
	}
	return out
}

func scheduledPayCodeElements() []dataelement.Entry[scheduledPayCodes] {
	entry := func(key, label, doc string, kind dataelement.Type, of func(*timekeepingv1.PayCode) value) dataelement.Entry[scheduledPayCodes] {
		return dataelement.Entry[scheduledPayCodes]{
			Key: key, Label: label, Doc: doc, Type: kind, Categories: []string{"SCHEDULING"}, Series: true,
			Value: func(codes *scheduledPayCodes, at at) value {
				if code := (*codes)[at.Days]; code != nil {
					return of(code)
				}
				return value{}
			},
		}
	}
	return []dataelement.Entry[scheduledPayCodes]{
		entry("CORE_PAYCODE_TYPE", "Pay code type", "The type of the pay code of the first pay code edit, when it is set up.", dataelement.String,
			func(p *timekeepingv1.PayCode) value { return dataelement.Text(p.GetType()) }),
		entry("CORE_PAYCODE_IS_COMBINED", "Combined pay code", "Whether the pay code of the first pay code edit sums up others, when it is set up.", dataelement.Boolean,
			func(p *timekeepingv1.PayCode) value { return dataelement.Bool(p.GetCombined()) }),
	}
}
