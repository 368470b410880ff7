package paycodeedit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paycodeedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// setup has the pay codes Sick of hours, Day of days, Bonus of money, and All, which is
// combined.
func setup(t *testing.T) *paysetup.Setup {
	t.Helper()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	for _, code := range []*timekeepingv1.PayCode{
		{Name: "Sick"},
		{Name: "Day", Unit: "DAY"},
		{Name: "Bonus", Unit: "MONEY"},
		{Name: "All", Combined: proto.Bool(true)},
	} {
		_, err := paycode.New(pool, paycodetest.Terms{}).CreatePayCode(ctx, code)
		require.NoError(t, err)
	}
	var s *paysetup.Setup
	require.NoError(t, pg.InSnapshot(ctx, pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		s, err = paysetup.Load(ctx, tx)
		return err
	}))
	return s
}

func refByName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: proto.String(name)} }

func TestPayCodeEditsOfRequests(t *testing.T) {
	t.Parallel()
	s := setup(t)
	type edit = timekeepingv1.TimecardPayCodeEdit
	number := structpb.NewNumberValue
	for _, c := range []struct {
		name string
		sent *edit
		code string // "" for one that is worth and shown as below
		want string
	}{
		{"hours", &edit{Paycode: refByName("sick"), DurationInHours: number(1.5)}, "", "Sick HOUR 5400 0 0"},
		{"hours as text", &edit{Paycode: refByName("Sick"), DurationInHours: structpb.NewStringValue("-0.25")}, "", "Sick HOUR -900 0 0"},
		{"days", &edit{Paycode: refByName("Day"), DurationInDays: number(0.5), AmountType: "day"}, "", "Day DAY 0 0.5 0"},
		{"money", &edit{Paycode: refByName("Bonus"), MoneyAmount: structpb.NewStringValue("12.3456")}, "", "Bonus MONEY 0 0 12.3456"},
		{"a pay code by its name", &edit{Paycode: &commonv1.Ref{Name: proto.String("Sick")}, DurationInHours: number(1)}, "", "Sick HOUR 3600 0 0"},
		{"no pay code", &edit{DurationInHours: number(1)}, timecardfault.CodeMissing, ""},
		{"an unknown pay code", &edit{Paycode: refByName("Never"), DurationInHours: number(1)}, timecardfault.CodeReference, ""},
		{"a combined pay code", &edit{Paycode: refByName("All"), DurationInHours: number(1)}, timecardfault.CodeInvalid, ""},
		{"another unit", &edit{Paycode: refByName("Sick"), AmountType: "DAY", DurationInHours: number(1)}, timecardfault.CodeInvalid, ""},
		{"an amount in another unit", &edit{Paycode: refByName("Sick"), DurationInDays: number(1)}, timecardfault.CodeMissing, ""},
		{"two amounts", &edit{Paycode: refByName("Sick"), DurationInHours: number(1), MoneyAmount: number(1)}, timecardfault.CodeInvalid, ""},
		{"no amount", &edit{Paycode: refByName("Sick")}, timecardfault.CodeMissing, ""},
		{"an amount that is no number", &edit{Paycode: refByName("Sick"), DurationInHours: structpb.NewStringValue("much")}, timecardfault.CodeInvalid, ""},
		{"too many hours", &edit{Paycode: refByName("Sick"), DurationInHours: number(10_001)}, timecardfault.CodeInvalid, ""},
		{"too many decimals", &edit{Paycode: refByName("Bonus"), MoneyAmount: structpb.NewStringValue("0.00001")}, timecardfault.CodeInvalid, ""},
		{"an edit that is too large", &edit{Paycode: refByName("Sick"), DurationInHours: number(1), OrgJob: refByName(strings.Repeat("x", 16_384))}, timecardfault.CodeInvalid, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.sent.ApplyDate = "2026-03-02"
			e, err := paycodeedit.Parse("edit", c.sent, s)
			if c.code != "" {
				assert.True(t, fault.HasCode(err, c.code), "%v", err)
				return
			}
			require.NoError(t, err)
			shown := e.ToProto(s)
			assert.Equal(t, c.want, fmt.Sprintf("%s %s %d %s %s", shown.GetPaycode().GetQualifier(), shown.GetAmountType(), e.Seconds, e.Days, e.Money))
			assert.Equal(t, "2026-03-02", shown.GetApplyDate())
		})
	}
	t.Run("no day", func(t *testing.T) {
		t.Parallel()
		_, err := paycodeedit.Parse("edit", &edit{Paycode: refByName("Sick"), DurationInHours: number(1)}, s)
		assert.True(t, fault.HasCode(err, timecardfault.CodeMissing), "%v", err)
	})
}
