package accrual

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func TestLowestBalance(t *testing.T) {
	t.Parallel()
	first := civil.Of(2031, 1, 1)
	taken := func(days string) []*timekeepingv1.WorkedTimeTotal {
		return []*timekeepingv1.WorkedTimeTotal{{PayCode: ref(7, "Vacation"), Days: days}}
	}
	for name, c := range map[string]struct {
		totals     map[civil.Date][]*timekeepingv1.WorkedTimeTotal
		from, last civil.Date
		on         civil.Date
		want       string
	}{
		"nothing is taken":                {nil, first + 30, first + 40, first + 30, "5"},
		"before the days":                 {map[civil.Date][]*timekeepingv1.WorkedTimeTotal{first: taken("2")}, first + 30, first + 40, first + 30, "3"},
		"later":                           {map[civil.Date][]*timekeepingv1.WorkedTimeTotal{first + 35: taken("7")}, first + 30, first + 40, first + 35, "-2"},
		"behind the days":                 {map[civil.Date][]*timekeepingv1.WorkedTimeTotal{first + 41: taken("7")}, first + 30, first + 40, first + 30, "5"},
		"given back later":                {map[civil.Date][]*timekeepingv1.WorkedTimeTotal{first + 31: taken("6"), first + 35: taken("-6")}, first + 30, first + 40, first + 31, "-1"},
		"what a new year takes of it":     {map[civil.Date][]*timekeepingv1.WorkedTimeTotal{civil.Of(2032, 1, 2): taken("7")}, first + 30, civil.Of(2032, 2, 1), civil.Of(2032, 1, 2), "-1"},
		"a grant covers what comes later": {map[civil.Date][]*timekeepingv1.WorkedTimeTotal{first + 40: taken("5"), civil.Of(2032, 1, 2): taken("5")}, first + 30, civil.Of(2032, 2, 1), first + 40, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := openAccount(t, &timekeepingv1.AccrualPolicy{GrantAmount: proto.Float64(5), CarryOverLimit: proto.Float64(1)}, unitDay, since(first))
			on, left := chain{a}.lowest(c.from, c.last, history{totals: c.totals})
			assert.Equal(t, c.on, on)
			assert.Equal(t, c.want, left.RatString())
		})
	}
}
