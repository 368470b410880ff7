package transcode_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func TestIgnoredPropertiesAreSkipped(t *testing.T) {
	t.Parallel()
	plan := transcode.For((&commonsv1.UserAccount{}).ProtoReflect().Descriptor())
	for _, value := range []string{`true`, `false`, `null`, `0`, `-1.5e3`, `"yes"`, `""`, `[]`, `{}`, `[1,[{"a":null}]]`, `{"accountLocked":{"x":[true]}}`} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			wire, err := plan.AppendWire(nil, []byte(`{"userName":"ada","accountLocked":`+value+` ,"clockOnlyUser":true}`))
			require.NoError(t, err)
			got := &commonsv1.UserAccount{}
			require.NoError(t, proto.Unmarshal(wire, got))
			assert.True(t, proto.Equal(&commonsv1.UserAccount{UserName: "ada", ClockOnlyUser: proto.Bool(true)}, got), got)
		})
	}
	for text, code := range map[string]string{
		`{"accountLocked":tru}`:                 fault.CodeValue,
		`{"accountLocked":[1,]}`:                fault.CodeValue,
		`{"accountLocked":"a}`:                  fault.CodeValue,
		`{"accountLocked":1,"accountLocked":1}`: fault.CodeValue,
		`{"accountlocked":true}`:                fault.CodeUnknownProperty,
		`{"deep":{"accountLocked":1}`:           fault.CodeUnknownProperty,
	} {
		t.Run(text, func(t *testing.T) {
			_, err := plan.AppendWire(nil, []byte(text))
			assert.True(t, fault.HasCode(err, code), "%s: %v", text, err)
		})
	}
}

func TestExactNumbersKeepTheirText(t *testing.T) {
	t.Parallel()
	plan := transcode.For((&commonsv1.NewHire{}).ProtoReflect().Descriptor())
	read := func(value string) *commonsv1.NewHire {
		wire, err := plan.AppendWire(nil, []byte(`{"WorkStateTotalAllowancesClaimedCurrencyAmount":`+value+`,"I9Verification":40.0}`))
		require.NoError(t, err, value)
		got := &commonsv1.NewHire{}
		require.NoError(t, proto.Unmarshal(wire, got))
		assert.Equal(t, 40.0, got.GetI9Verification().GetNumberValue(), "other fields have numbers")
		return got
	}
	for _, number := range []string{"40", "40.0", "4e1", "-0", "99999999999999999999"} {
		t.Run(number, func(t *testing.T) {
			assert.Equal(t, number, read(number).GetWorkStateTotalAllowancesClaimedCurrencyAmount().GetStringValue())
		})
	}
	assert.Equal(t, "40", read(`"40"`).GetWorkStateTotalAllowancesClaimedCurrencyAmount().GetStringValue())
	assert.True(t, read(`true`).GetWorkStateTotalAllowancesClaimedCurrencyAmount().GetBoolValue())
	list := read(`[40.0]`).GetWorkStateTotalAllowancesClaimedCurrencyAmount().GetListValue()
	assert.Equal(t, 40.0, list.GetValues()[0].GetNumberValue(), "what lies deeper is as elsewhere")
}
