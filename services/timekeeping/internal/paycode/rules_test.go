package paycode

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

type payCode = timekeepingv1.PayCode

func TestDefaultsOfPayCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		given, want *payCode
	}{
		{"a name alone", &payCode{Name: "A"}, &payCode{Name: "A", Type: "REGULAR", Unit: "HOUR", Money: proto.Bool(false)}},
		{"small letters", &payCode{Name: "A", Type: "cascade", Unit: "day"}, &payCode{Name: "A", Type: "CASCADE", Unit: "DAY", Money: proto.Bool(false)}},
		{"money", &payCode{Name: "A", Unit: "money"}, &payCode{Name: "A", Type: "REGULAR", Unit: "MONEY", Money: proto.Bool(true)}},
		{
			"money that says so, and has no wages", &payCode{Name: "A", Unit: "MONEY", Money: proto.Bool(true), WageMultiplier: proto.Float64(0), WageAddition: proto.Float64(0)},
			&payCode{Name: "A", Type: "REGULAR", Unit: "MONEY", Money: proto.Bool(true), WageMultiplier: proto.Float64(0), WageAddition: proto.Float64(0)},
		},
		{
			"wages, of which the addition may take away", &payCode{Name: "A", WageMultiplier: proto.Float64(0), WageAddition: proto.Float64(-1.5)},
			&payCode{Name: "A", Type: "REGULAR", Unit: "HOUR", Money: proto.Bool(false), WageMultiplier: proto.Float64(0), WageAddition: proto.Float64(-1.5)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := New(nil, nil).resource.Validate("payCode", c.given)
			require.NoError(t, err)
			assert.True(t, proto.Equal(c.want, got), "%v", got)
		})
	}
}

func TestPayCodesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code, says string
		given            *payCode
	}{
		{"no name", CodeMissing, "payCode.name", &payCode{}},
		{"a blank name", CodeMissing, "payCode.name", &payCode{Name: " "}},
		{"a name with a line break", CodeInvalid, "control characters", &payCode{Name: "a\nb"}},
		{"an unknown type", CodeInvalid, "type must be one of REGULAR, CASCADE, DURATION", &payCode{Name: "A", Type: "OTHER"}},
		{"an unknown unit", CodeInvalid, "unit must be one of HOUR, DAY, MONEY", &payCode{Name: "A", Unit: "WEEK"}},
		{"hours that are money", CodeInvalid, "money must be false: the unit is HOUR", &payCode{Name: "A", Money: proto.Bool(true)}},
		{"money that is none", CodeInvalid, "money must be true: the unit is MONEY", &payCode{Name: "A", Unit: "MONEY", Money: proto.Bool(false)}},
		{"a multiplier of money", CodeInvalid, "of no use to the unit MONEY", &payCode{Name: "A", Unit: "MONEY", WageMultiplier: proto.Float64(1.5)}},
		{"an addition to money", CodeInvalid, "of no use to the unit MONEY", &payCode{Name: "A", Unit: "MONEY", WageAddition: proto.Float64(-1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := New(nil, nil).resource.Validate("payCode", c.given)
			require.ErrorContains(t, err, c.says)
			assert.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
		})
	}
}
